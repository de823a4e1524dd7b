//go:build linux

package real

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// small is an experiment of two hosts, one of which sends.
func small() *emu.Experiment {
	return &emu.Experiment{
		Protocol: "sird", Seed: 5, Dilation: 1000,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: 2 * units.Microsecond},
		Duration: units.Millisecond, QueueLimit: 70_000,
	}
}

func readFacts(t *testing.T, dir emu.RunDir) (f emu.Facts) {
	t.Helper()
	text, err := dir.Read(emu.FactsFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is impossible is refused before anything is built, in Check as in a run.
func TestExperimentsThatCannotRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*emu.Experiment)
		want   string
	}{
		{"topology", func(x *emu.Experiment) { x.Topology.HostRate = 0 }, "host_rate"},
		{"protocol", func(x *emu.Experiment) { x.Protocol = "udp" }, "udp"},
		{"parameters", func(x *emu.Experiment) { x.Params = json.RawMessage(`{"bb": 2}`) }, `"bb"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := small()
			c.change(x)
			if err := (&Engine{}).Check(x); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check: got %v, want an error with %s", err, c.want)
			}
			dir := rundir.Open(t, t.TempDir())
			facts, err := (&Engine{}).Run(t.Context(), x, dir, emu.Hooks{})
			if err == nil || !strings.Contains(err.Error(), c.want) || facts.Failure != err.Error() {
				t.Errorf("Run: got %v and the failure %q, want both with %s", err, facts.Failure, c.want)
			}
			if back := readFacts(t, dir); back.Failure != facts.Failure {
				t.Errorf("facts.json has the failure %q, want %q", back.Failure, facts.Failure)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	machine := &Machine{CPUs: 64, Timer: WakeUps{P90: time.Microsecond},
		Crowd: WakeUps{P99: 100 * time.Microsecond}}
	platform := Platform{Machine: machine, Wires: emu.HostDelay, Marker: emu.EBPF}
	for _, c := range []struct {
		name     string
		change   func(*emu.Experiment)
		dilation units.Dilation
		wires    emu.Wires
	}{
		{"as asked for", func(*emu.Experiment) {}, 1000, emu.HostDelay},
		{"dilation of the machine's", func(x *emu.Experiment) { x.Dilation = 0 }, 1140, emu.HostDelay},
		{"kernel TCP over links that delay", func(x *emu.Experiment) { x.Protocol = "tcp-cubic" }, 1000, emu.Netem},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := small()
			c.change(x)
			r := &run{engine: &Engine{Platform: platform}, x: x, facts: &emu.Facts{}}
			got, err := r.plan()
			if err != nil {
				t.Fatal(err)
			}
			if got.Dilation != c.dilation || r.facts.Dilation != c.dilation || got.Wires != c.wires {
				t.Errorf("got dilation %d (facts: %d) over %v, want %d over %v", got.Dilation, r.facts.Dilation,
					got.Wires, c.dilation, c.wires)
			}
			if got.HashSeed != 5 || got.QueueLimit != 70_000 || got.BurstTime != 10*time.Microsecond ||
				got.Marker != emu.EBPF {
				t.Errorf("got %+v, want the experiment's seed and limit, and the platform's burst and marker", got)
			}
		})
	}
}

// A node's name stands for all of its ports, a port's for itself.
func TestCapturedPorts(t *testing.T) {
	f := rackOf(t, 3, units.Gbps)
	for _, c := range []struct {
		node  string
		names []string
		want  []string
	}{
		{"leaf1", []string{"leaf1"}, []string{"leaf1>h1-1", "leaf1>h1-2", "leaf1>h1-3"}},
		{"leaf1", []string{"leaf1>h1-2", "h1-1"}, []string{"leaf1>h1-2"}},
		{"h1-1", []string{"leaf1>h1-2", "h1-1"}, []string{"h1-1>leaf1"}},
		{"h1-3", []string{"leaf1>h1-2", "h1-1"}, nil},
	} {
		t.Run(c.node+" of "+strings.Join(c.names, " "), func(t *testing.T) {
			node, _ := f.Node(c.node)
			var got []string
			for _, p := range capturedPorts(f, node, c.names) {
				got = append(got, p.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Behind a wire by netem a frame is seen when it has arrived, so its tap is for
// what comes in of IPv4, and another is for what leaves.
func TestTapsOf(t *testing.T) {
	if got := tapsOf(emu.HostDelay); len(got) != 1 || got[0].SentOnly || got[0].Protocol != 0 {
		t.Errorf("without netem: got %+v, want one tap for all", got)
	}
	got := tapsOf(emu.Netem)
	if len(got) != 2 || got[0].Protocol != unix.ETH_P_IP || got[0].SentOnly || !got[1].SentOnly {
		t.Errorf("with netem: got %+v, want one for IPv4 and one for what is sent", got)
	}
}

// Kernel TCP is refused where links cannot delay its packets; a transport is not.
func TestWiresOfKernelTCP(t *testing.T) {
	x := small()
	f := rackOf(t, 2, units.Gbps)
	if err := checkWires(f, x); err != nil {
		t.Errorf("of a transport: got %v, want none", err)
	}
	x.Protocol = "tcp-cubic"
	if err := checkWires(f, x); err != nil && !errors.Is(err, emu.ErrUnsuited) {
		t.Errorf("got %v, want none or one that matches ErrUnsuited", err)
	}
	// By the kernel's own clock short delays are below what the machine resolves.
	x.Dilation = 1
	if err := checkWires(f, x); err != nil {
		t.Errorf("at dilation 1: got %v, want none", err)
	}
	for i := range f.Ports {
		f.Ports[i].Delay = units.Time(resolvedDelay)
	}
	if err := checkWires(f, x); (err == nil) != (netemMissing() == nil) {
		t.Errorf("with links of %v at dilation 1: got %v, where netem: %v", resolvedDelay, err, netemMissing())
	}
}
