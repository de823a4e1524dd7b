//go:build linux

package virtual

import (
	"testing"

	"sirdbed/emu"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A link between guests that is full when something happens to it loses the same packets
// as one within a guest, and the others arrive when they do there: a packet meets what
// happens to the link as it begins to leave, not when it has crossed. Links are long, so that
// many packets are on them.
func TestFaultsOfFullCrossingLinks(t *testing.T) {
	private(t)
	const us = units.Microsecond
	for _, c := range []struct {
		name string
		do   fault.Event
		lost bool
	}{
		{"cut", fault.Event{Do: fault.Blackhole, For: 4 * us}, true},
		{"slower", fault.Event{Do: fault.Rate, Rate: 20 * units.Gbps, For: 30 * us}, false},
		{"longer", fault.Event{Do: fault.Delay, Delay: 9 * us, For: 30 * us}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, back := c.do, c.do // of the link to the spine, then of that from it
			out.Link, out.At = "leaf2>spine1", 40*us
			back.Link, back.At = "spine1>leaf2", 55*us
			x := longCore(fault.Timeline{out, back})
			one, two := crossed(t, x, 1), crossed(t, x, 2)
			lost := int64(0)
			for i, p := range one.facts.Ports {
				q := two.facts.Ports[i]
				lost += p.Lost
				if q.Name != p.Name || q.Packets != p.Packets || q.Lost != p.Lost {
					t.Errorf("by 2 guests %+v, by one %+v", q, p)
				}
			}
			if (lost > 0) != c.lost {
				t.Errorf("links have lost %d packets, want some: %v", lost, c.lost)
			}
			sameMessages(t, one, two)
		})
	}
}

// longCore is an experiment of a large message each way between two racks, whose link is as
// fast as the hosts'.
func longCore(timeline fault.Timeline) *emu.Experiment {
	return &emu.Experiment{Scenario: "faults", Variant: "sird", Protocol: "sird", Seed: 1, Timeline: timeline,
		Topology: topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 1, HostRate: 100 * units.Gbps,
			CoreRate: 100 * units.Gbps, HostDelay: 1250, CoreDelay: 5000, MTU: 1500},
		Streams: []traffic.Stream{{Name: "list", Pattern: traffic.PatternList, Messages: []traffic.ListEntry{
			{At: 0, Src: "h1-1", Dst: "h2-1", Size: 1_000_000},
			{At: 503, Src: "h2-2", Dst: "h1-2", Size: 1_000_000},
		}}},
		Duration: 200 * units.Microsecond, Drain: 30 * units.Millisecond, QueueEvery: 50 * units.Microsecond}
}
