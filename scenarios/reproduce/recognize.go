package reproduce

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"sirdbed/baselines/all"
	"sirdbed/capture/points"
	"sirdbed/emu"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The paper's fabric, section 6.2.
const (
	paperHosts    = 144
	paperRack     = 16 // hosts below a leaf
	paperHostRate = units.BitsPerSecond(100e9)

	paperMTU       = units.Bytes(1500) // what a topology without one has
	paperHostDelay = 1250 * units.Nanosecond
	paperCoreDelay = 500 * units.Nanosecond
)

// The bursts of the configuration Incast: of how large messages, and which share of the load.
const (
	burstSize  = 500_000
	burstShare = 0.07
)

// coreCapacity is which load of hosts the core carries in the configuration Core, whose
// loads are of that.
const coreCapacity = 0.56

// loads are those of the paper's tables.
var loads = []float64{0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95}

// HighestLoad is the highest of the paper's loads, as places have it: without it a maximum over
// the loads is none.
func HighestLoad() string { return loadName(loads[len(loads)-1]) }

func loadName(load float64) string { return strconv.FormatFloat(load, 'f', -1, 64) }

// PlaceOf says where in the paper's tables an experiment belongs, whoever wrote its
// scenario: one of the three configurations at any scale with the paper's ratios, one of its
// workloads between all hosts at one of its loads, a protocol with its own parameters, and
// nothing else. ok: it belongs there.
func PlaceOf(x *emu.Experiment) (p Place, ok bool) {
	t := x.Topology
	own, printed := parametersOf(x)
	if t.Leaves < 2 || t.HostRate != paperHostRate || changed(x) || !own && !printed || !delaysAsPaper(&t, printed) {
		return p, false
	}
	p = Place{Study: "balanced", Protocol: x.Protocol, Arrivals: "poisson"}
	if printed {
		p.Arrivals = "released" // stands for what the print is of
	}
	load, burst, capacity := 0.0, 0.0, 1.0
	core := float64(t.CoreRate) * float64(t.Spines) / (float64(t.HostRate) * float64(t.HostsPerLeaf))
	for i := range x.Streams {
		s := &x.Streams[i]
		switch {
		case s.Pattern == traffic.PatternPoisson && p.Workload == "" && between(s) &&
			slices.Contains(paper.Workloads, s.Sizes):
			p.Workload = s.Sizes
			if s.Arrivals == traffic.ArrivalsReleased {
				p.Arrivals = "released"
			}
		case s.Pattern == traffic.PatternIncast && p.Study == "balanced" && between(s) && s.Size == burstSize:
			p.Study, burst = "incast", s.Load
		default:
			return p, false
		}
		load += s.Load
	}
	switch {
	case p.Workload == "":
		return p, false
	case core == 0.5 && p.Study == "balanced":
		p.Study, capacity = "core", coreCapacity
	case core != 1, burst > 0 && math.Abs(burst/load-burstShare) > 0.005:
		return p, false
	}
	for _, l := range loads {
		if math.Abs(load/capacity-l) < 0.015 {
			p.Load = loadName(l)
		}
	}
	return p, p.Load != ""
}

// changed reports whether something is another than in the paper's runs, parameters apart:
// nothing is lost there, and all links of a kind are alike.
func changed(x *emu.Experiment) bool {
	t := &x.Topology
	return x.Faults.Enabled() || len(x.Timeline) > 0 || len(x.Hosts) > 0 || len(x.Apps) > 0 || x.QueueLimit != 0 ||
		len(t.Links) > 0 || t.MTU != 0 && t.MTU != paperMTU
}

// delaysAsPaper reports whether links have the paper's delays, or those of dcPIM's simulator where
// printed says that dcPIM is as in there.
func delaysAsPaper(t *topo.Spec, printed bool) bool {
	if printed && t.HostDelay == linkDelay && t.CoreDelay == linkDelay {
		return true
	}
	return t.HostDelay == paperHostDelay && t.CoreDelay == paperCoreDelay
}

// asPaper are other parameters than a protocol's own that the paper's scenarios have: SIRD's with the
// paper's rule for loss, Homa's by the workload alone and without recovery, one queue a host.
func asPaper(x *emu.Experiment) (list []string) {
	switch x.Protocol {
	case "sird":
		list = append(list, `{"loss_detection": "silence"}`)
	case "dctcp", "swift":
		list = append(list, `{"uplink_fifo": true}`)
	case "homa":
		for i := range x.Streams {
			if name := x.Streams[i].Sizes; name != "" {
				list = append(list, fmt.Sprintf(`{"workload": %q}`, name),
					fmt.Sprintf(`{"workload": %q, "loss_timeout": "1s"}`, name))
			}
		}
	}
	return list
}

// parametersOf reports whether an experiment's parameters are the protocol's own or those of the
// paper's scenarios, and whether they are those of dcPIM where it is as in its authors' simulator.
func parametersOf(x *emu.Experiment) (own, printed bool) {
	p, err := all.Find(x.Protocol)
	if err != nil {
		return false, false
	}
	fabric, err := topo.New(x.Topology)
	if err != nil {
		return false, false
	}
	here, err := all.DecodeParams(p, fabric, x.Params)
	if err != nil {
		return false, false
	}
	same := func(params json.RawMessage) bool {
		want, err := all.DecodeParams(p, fabric, params)
		return err == nil && reflect.DeepEqual(here, want)
	}
	var fitted json.RawMessage
	if p.Fit != nil {
		fitted = p.Fit(fabric, p.DefaultParams(fabric), x.Streams)
	}
	own = same(fitted) || slices.ContainsFunc(asPaper(x), func(params string) bool {
		return same(json.RawMessage(params))
	})
	return own, x.Protocol == "dcpim" && same(json.RawMessage(inItsSimulator))
}

// between reports whether a stream is between all hosts, all the time, as the paper's are.
func between(s *traffic.Stream) bool {
	everyone := func(hosts []string) bool { return len(hosts) == 0 || slices.Equal(hosts, []string{"all"}) }
	return everyone(s.From) && everyone(s.To) && s.Start == 0 && s.Stop == 0 && s.Load > 0
}

// A Placed is a point that belongs into the paper's tables.
type Placed struct {
	Place Place
	Point *points.Point
}

// FoundAt is what was found at places: where some arrivals are as released, those alone,
// since the printed numbers are of them. poisson says that there were none.
func FoundAt(list []Placed) (f *Found, poisson bool) {
	f = &Found{}
	poisson = !slices.ContainsFunc(list, func(p Placed) bool { return p.Place.Arrivals == "released" })
	for _, p := range list {
		if p.Place.Arrivals != "released" && !poisson {
			continue
		}
		at := []sweep.Coordinate{{Axis: "workload", Label: p.Place.Workload}, {Axis: "load", Label: p.Place.Load}}
		f.Jobs = append(f.Jobs, Job{
			Job:   sweep.Job{At: at, Experiment: p.Point.Experiment, Engine: p.Point.Engine},
			Study: p.Place.Study, Arrivals: "released",
		})
		f.Points = append(f.Points, p.Point)
	}
	return f, poisson
}

// PaperSized reports whether a fabric has as many hosts as the paper's.
func PaperSized(hosts int) bool { return hosts == paperHosts }
