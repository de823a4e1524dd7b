package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/baselines/all"
	"sirdbed/scenarios"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func newTopo() *cobra.Command {
	var asJSON bool
	var set []string
	c := &cobra.Command{
		Use:   "topo SCENARIO",
		Short: "Draw the fabric of a scenario and compute its latencies",
		Long: text(`
			Draw the fabric of a scenario, with names, addresses, rates and delays, and compute what follows from them:
			unloaded latencies, the credit loop and the BDP. SCENARIO is a YAML file, or the name of a scenario in the
			binary. For hosts that are devices of this machine, print what to type at the other end of the cable; for
			variants with faults, what happens to which link or host, and when.

			Unloaded latency, that of a message on an idle fabric, has two definitions. "paper" is that of the released
			scripts: payload at the bottleneck's rate, and propagation. "exact" adds headers, and store-and-forward at
			every hop. Both take the fastest single path. "all paths" is the fastest use of all of them together, as by
			sprayed packets: nothing can be faster, and slowdown is latency over this. Where paths differ, the hosts
			that gain most from that are shown too.`),
		Example: examples(`
			sirdbed topo incast
			sirdbed topo scenarios/incast.yaml --json
			sirdbed topo incast --set topology.hosts_per_leaf=16`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadScenario(args[0], set)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), describeFabric(s))
			}
			return printFabric(c.OutOrStdout(), s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: nodes, ports and figures, in ns, bytes and bit/s")
	c.Flags().StringArrayVar(&set, "set", nil, setUsage)
	return c
}

// setUsage describes the flag --set.
const setUsage = "change the scenario: `PATH=VALUE`, such as sird.sthr=inf (may be repeated)"

// loadScenario reads a scenario for a command, with the changes of --set. What is
// wrong with either is bad input.
func loadScenario(path string, set []string) (*scenarios.Scenario, error) {
	var changes []scenarios.Change
	for _, text := range set {
		change, err := scenarios.ParseChange(text)
		if err != nil {
			return nil, badInput(err)
		}
		changes = append(changes, change)
	}
	s, err := scenarios.Load(path, changes...)
	return s, badInput(err)
}

// Fabric is what topo --json prints.
type Fabric struct {
	Scenario     string     `json:"scenario"`
	Nodes        []NodeInfo `json:"nodes"`
	Ports        []PortInfo `json:"ports"`
	MTU          int64      `json:"mtu"`
	FullFrame    int64      `json:"full_frame_wire_bytes"`
	BDP          int64      `json:"bdp_bytes"`
	CreditLoopNs int64      `json:"credit_loop_ns"`
	Unloaded     []Unloaded `json:"unloaded"`

	Devices []DeviceInfo   `json:"devices,omitempty"`
	Faults  []TimelineInfo `json:"faults,omitempty"`
}

// TimelineInfo is what happens to links and hosts in the course of a variant. Times are in ns.
type TimelineInfo struct {
	Variant string         `json:"variant"`
	Events  fault.Timeline `json:"events"`
}

// NodeInfo is a node in topo --json.
type NodeInfo struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Addr string `json:"address"`
}

// PortInfo is an egress port in topo --json.
type PortInfo struct {
	Name    string `json:"name"`
	MAC     string `json:"mac"`
	RateBps int64  `json:"rate_bps"`
	DelayNs int64  `json:"delay_ns"`
	Core    bool   `json:"core"`
}

// Unloaded is the latency of a message over an idle fabric.
type Unloaded struct {
	Protocol string `json:"protocol"` // whose headers the exact latency counts
	Path     string `json:"path"`     // "rack", "core", or "core, links differ"
	From     string `json:"from"`
	To       string `json:"to"`
	Size     int64  `json:"size_bytes"`
	PaperNs  int64  `json:"paper_ns"` // over the fastest path
	ExactNs  int64  `json:"exact_ns"` // the same
	// Over all paths together.
	FastestPaperNs int64 `json:"fastest_paper_ns"`
	FastestExactNs int64 `json:"fastest_exact_ns"`
}

func describeFabric(s *scenarios.Scenario) Fabric {
	f := s.Fabric()
	d := Fabric{
		Scenario: s.Name, MTU: int64(f.Spec.MTU), FullFrame: int64(f.FullFrame()), BDP: int64(f.BDP()),
		CreditLoopNs: int64(f.CreditLoop(f.Hosts[0], f.Hosts[len(f.Hosts)-1])), Unloaded: unloaded(s),
		Devices: deviceInfos(s), Faults: timelines(s),
	}
	for _, n := range f.Nodes {
		d.Nodes = append(d.Nodes, NodeInfo{n.Name, n.Kind.String(), n.Addr.String()})
	}
	for _, p := range f.Ports {
		d.Ports = append(d.Ports, PortInfo{p.Name, p.MAC.String(), int64(p.Rate), int64(p.Delay), p.Core})
	}
	return d
}

// unloaded works out latencies of some sizes, within a rack, across, and between the
// hosts that gain the most by all paths.
func unloaded(s *scenarios.Scenario) (list []Unloaded) {
	f := s.Fabric()
	p, err := all.Find(s.Protocols[0])
	if err != nil {
		return nil // Load checks it
	}
	framing := p.Framing(f.Spec.MTU)
	first, last := f.Hosts[0], f.Hosts[len(f.Hosts)-1]
	type path struct {
		name     string
		from, to topo.HostID
	}
	var paths []path
	if f.Spec.HostsPerLeaf > 1 {
		paths = append(paths, path{"rack", first, f.Hosts[f.Spec.HostsPerLeaf-1]})
	}
	if f.Spec.Leaves > 1 {
		paths = append(paths, path{"core", first, last})
	}
	sizes := []units.Bytes{8, framing.MSS, 100 * units.Kilobyte, 500 * units.Kilobyte, 10 * units.Megabyte}
	if src, dst, ok := mostDifferent(f, framing, sizes[len(sizes)-1]); ok {
		paths = append(paths, path{"core, links differ", src, dst})
	}
	for _, path := range paths {
		for _, size := range sizes {
			list = append(list, Unloaded{
				Protocol: p.Name, Path: path.name, From: f.HostName(path.from), To: f.HostName(path.to),
				Size:    int64(size),
				PaperNs: int64(f.UnloadedPaper(path.from, path.to, size)),
				ExactNs: int64(f.UnloadedExact(path.from, path.to, size, framing)),

				FastestPaperNs: int64(f.FastestPaper(path.from, path.to, size)),
				FastestExactNs: int64(f.FastestExact(path.from, path.to, size, framing)),
			})
		}
	}
	return list
}

// mostDifferent returns the hosts with paths that differ whose large messages gain the
// most by all of them together; false where none gain more than those from the first
// host to the last.
// It looks at one host of each rack.
func mostDifferent(f *topo.Fabric, fr topo.Framing, size units.Bytes) (src, dst topo.HostID, ok bool) {
	gain := func(a, b topo.HostID) units.Time {
		return f.UnloadedExact(a, b, size, fr) - f.FastestExact(a, b, size, fr)
	}
	first, last := f.Hosts[0], f.Hosts[len(f.Hosts)-1]
	if len(f.Spec.Links) == 0 {
		return first, last, false
	}
	src, dst = first, last
	most := gain(src, dst)
	for a := 0; a < len(f.Hosts); a += f.Spec.HostsPerLeaf {
		for b := 0; b < len(f.Hosts); b += f.Spec.HostsPerLeaf {
			if a == b || f.Alike(f.Hosts[a], f.Hosts[b]) {
				continue
			}
			if g := gain(f.Hosts[a], f.Hosts[b]); g > most {
				src, dst, most, ok = f.Hosts[a], f.Hosts[b], g, true
			}
		}
	}
	return src, dst, ok
}

func printFabric(w io.Writer, s *scenarios.Scenario) error {
	f := s.Fabric()
	spec := f.Spec
	fmt.Fprintf(w, "%s: %s, MTU %d (%d bytes on the wire)\n\n", s.Name, shape(spec), spec.MTU, f.FullFrame())
	if err := drawFabric(w, f); err != nil {
		return err
	}
	h := f.Hosts[len(f.Hosts)-1]
	printAddresses(w, f, h)
	printOverrides(w, f)
	printDevices(w, s)
	printTimelines(w, s)

	fmt.Fprintf(w, "\nUnloaded latency of a message, %s:\n", strings.Join(s.Protocols[:1], ""))
	t := newTable(w, "path", "size", "paper", "exact", "all paths")
	for _, u := range unloaded(s) {
		t.row(fmt.Sprintf("%s to %s (%s)", u.From, u.To, u.Path), units.Bytes(u.Size).String(), micros(u.PaperNs),
			micros(u.ExactNs), micros(u.FastestExactNs))
	}
	if err := t.render(); err != nil {
		return err
	}
	loop := f.CreditLoop(f.Hosts[0], h)
	fmt.Fprintf(w, "\nCredit loop %s (a minimal packet there, a full one back), %d bytes at %v.\n",
		micros(int64(loop)), f.Downlink(h).Rate.BytesIn(loop), f.Downlink(h).Rate)
	_, err := fmt.Fprintf(w, "BDP %d bytes: %d full frames.\n", f.BDP(), f.BDP()/f.FullFrame())
	return err
}

// printTimelines prints what happens to links and hosts in the course of each variant.
func printTimelines(w io.Writer, s *scenarios.Scenario) {
	for _, t := range timelines(s) {
		fmt.Fprintf(w, "\nFaults of %s:\n", t.Variant)
		for i := range t.Events {
			fmt.Fprintf(w, "  %v\n", &t.Events[i])
		}
	}
}

// timelines are those of the variants that have one, in order of time.
func timelines(s *scenarios.Scenario) (list []TimelineInfo) {
	runs, err := s.Experiments(scenarios.Options{})
	if err != nil {
		return nil // Load checks it
	}
	for i := range runs {
		if x := &runs[i]; len(x.Timeline) > 0 {
			events := slices.Clone(x.Timeline)
			slices.SortStableFunc(events, func(a, b fault.Event) int { return cmp.Compare(a.At, b.At) })
			list = append(list, TimelineInfo{x.Variant, events})
		}
	}
	return list
}

// printAddresses prints the addresses of a host.
func printAddresses(w io.Writer, f *topo.Fabric, h topo.HostID) {
	fmt.Fprintf(w, "\nAddresses, for %s:\n", f.HostName(h))
	if n := f.Spec.Spines; n > 0 {
		fmt.Fprintf(w, "  %-12v the host, over any spine\n", f.HostAddr(h, 0))
		fmt.Fprintf(w, "  %-12v over spine%d\n", f.HostAddr(h, n), n)
	} else {
		fmt.Fprintf(w, "  %-12v the host\n", f.HostAddr(h, 0))
	}
	fmt.Fprintf(w, "  %-12v its kernel (ping, applications; see sirdbed exec)\n", f.KernelAddr(h))
}

// shape describes the size of a fabric.
func shape(s topo.Spec) string {
	if s.Leaves == 1 && s.Spines == 0 {
		return fmt.Sprintf("one rack of %d hosts", s.HostsPerLeaf)
	}
	return fmt.Sprintf("%d leaves with %d hosts each, %d spines, %d hosts",
		s.Leaves, s.HostsPerLeaf, s.Spines, s.Leaves*s.HostsPerLeaf)
}

// printOverrides lists the links that differ from the rest.
func printOverrides(w io.Writer, f *topo.Fabric) {
	if len(f.Spec.Links) == 0 {
		return
	}
	fmt.Fprintln(w, "\nLinks that differ:")
	for _, o := range f.Spec.Links {
		a, _ := f.Node(o.Between[0])
		b, _ := f.Node(o.Between[1])
		id, _ := f.PortBetween(a.ID, b.ID)
		p := f.Ports[id]
		fmt.Fprintf(w, "  %s - %s: %v, %v\n", o.Between[0], o.Between[1], p.Rate, p.Delay)
	}
}

// micros prints nanoseconds as microseconds.
func micros(ns int64) string { return fmt.Sprintf("%.3f us", float64(ns)/1000) }
