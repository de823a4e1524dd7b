package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// oversubscribed is two racks of n hosts whose links have n times the rate of the
// link between the racks.
func oversubscribed(t *testing.T, n int) *topo.Fabric {
	return modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: n, Spines: 1, HostRate: 100 * units.Gbps,
		CoreRate: 100 * units.Gbps, HostDelay: 700, CoreDelay: 600})
}

// Paper, section 4.2 and Algorithm 1, Net_AIMD: marks of the core make the
// receivers' network buckets small, and its queue stays around NThr; without them
// all the credit that receivers grant ends up there.
func TestNetworkLoopKeepsTheCoreQueueAtNThr(t *testing.T) {
	const n = 6
	f := oversubscribed(t, n)
	var sends []model.Send
	for i := range topo.HostID(n) {
		sends = append(sends, model.Send{Src: i, Dst: n + i, Size: 100_000_000})
	}
	leaf1, spine := f.LeafOf(0), f.Nodes[len(f.Nodes)-1].ID
	up, _ := f.PortBetween(leaf1, spine)
	for _, ecn := range []string{"core", "none"} {
		p := params(f, func(p *sird.Params) { p.ECN = ecn })
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends})
		sim.Run(units.Millisecond)
		sim.ResetQueues()
		before := sim.Port(up)
		sim.Run(3 * units.Millisecond)
		after, queue := sim.Port(up), sim.Queue(up)
		if busy := modeltest.RateOf(units.Bytes(after.WireBytes-before.WireBytes),
			2*units.Millisecond); busy < 99*units.Gbps {
			t.Errorf("ecn %s: the core carries %v only", ecn, busy)
		}
		nthr := float64(p.BDP) * float64(p.NThr)
		for i := range n {
			sender, net := at(sim, topo.HostID(n+i)).Loops(i).Buckets()
			if (net < p.BDP/2) != (ecn == "core") || sender != p.BDP {
				t.Errorf("ecn %s: buckets of pair %d: %v by csn, %v by ECN", ecn, i, sender, net)
			}
		}
		switch ecn {
		case "core":
			if after.Marks == before.Marks || queue.Mean < 0.6*nthr || queue.Mean > 1.1*nthr ||
				float64(queue.Max) > 1.5*nthr {
				t.Errorf("queue %.0f on average, at most %v, %d marks; NThr is %.0f", queue.Mean, queue.Max,
					after.Marks, nthr)
			}
		case "none":
			if after.Marks != 0 || queue.Mean < 3*nthr {
				t.Errorf("without ECN: queue %.0f on average, %d marks", queue.Mean, after.Marks)
			}
		}
	}
}

// README, Priorities: only leaf-spine ports mark, unless ecn is set otherwise. The
// threshold is so low here that all ports would.
func TestOnlyLeafSpinePortsMarkByDefault(t *testing.T) {
	const n = 4
	f := oversubscribed(t, n)
	sends := crossfire(n, n, 4, 500_000)
	for i := range 8 { // unscheduled incasts within a rack
		sends = append(sends, model.Send{Src: topo.HostID(i % n), Dst: topo.HostID((i + 1 + i/n) % n), Size: 90_000})
	}
	for _, c := range []struct {
		ecn        string
		core, edge bool
	}{{"core", true, false}, {"all", true, true}, {"none", false, false}} {
		p := params(f, func(p *sird.Params) { p.ECN, p.NThr = c.ecn, 0.1 })
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		var core, edge int64
		for i := range f.Ports {
			if f.Ports[i].Core {
				core += sim.Port(f.Ports[i].ID).Marks
			} else {
				edge += sim.Port(f.Ports[i].ID).Marks
			}
		}
		if (core > 0) != c.core || (edge > 0) != c.edge {
			t.Errorf("ecn %s: %d marks of leaf-spine ports, %d of others", c.ecn, core, edge)
		}
	}
}

// Paper, section 4: "The UDP source port is randomly selected for each packet",
// which uses all paths evenly, with credit and data alike.
func TestRandomSourcePortsUseAllSpinesEvenly(t *testing.T) {
	const spines = 4
	f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: spines, HostRate: 100 * units.Gbps,
		CoreRate: 100 * units.Gbps, HostDelay: 700, CoreDelay: 600})
	entropies := map[uint16]bool{}
	var packets [2][spines]int // by direction
	total := [2]int{}
	sim := newSim(t, model.Config{
		Fabric: f, Sends: []model.Send{{Src: 0, Dst: 2, Size: 15_000_000}}, OnPacket: func(e model.PacketEvent) {
			if e.Kind != model.Transmitted {
				return
			}
			if e.Port == f.Uplink(0) {
				entropies[e.Packet.Entropy] = true
				if e.Packet.Spine != 0 {
					t.Fatalf("pinned to spine %d", e.Packet.Spine)
				}
			}
			if n := f.Nodes[e.Port.Peer]; n.Kind == topo.Spine {
				direction := f.Nodes[e.Port.Node].Number - 1
				packets[direction][n.Number-1]++
				total[direction]++
			}
		},
	})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	if len(entropies) < 8000 {
		t.Errorf("%d source ports in %d packets", len(entropies), total[0])
	}
	for d, what := range []string{"data", "credit"} {
		for s, n := range packets[d] {
			if share := float64(n) * spines / float64(total[d]); share < 0.94 || share > 1.06 {
				t.Errorf("spine %d has %d of %d packets of %s", s+1, n, total[d], what)
			}
		}
	}
}

// Paper, section 4.4: "SIRD incurs no performance penalties from out-of-order
// packet deliveries". One of two spines is 5 us further away: half of the
// packets come 40 packets late.
func TestOutOfOrderArrivalIsHarmless(t *testing.T) {
	far := units.Time(5600)
	s := topo.Spec{Leaves: 2, HostsPerLeaf: 1, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
		HostDelay: 700, CoreDelay: 600}
	s.Links = []topo.LinkOverride{{Between: [2]string{"leaf1", "spine2"}, Delay: &far}}
	f := modeltest.Fabric(t, s)
	p := params(f, func(p *sird.Params) { p.BDP = 200_000 }) // covers the longer loop
	late, next := 0, uint32(0)
	sim := newSim(t, model.Config{
		Fabric: f, Params: p, Bytes: true, Sends: []model.Send{{Src: 0, Dst: 1, Size: 5_000_000}},
		OnPacket: func(e model.PacketEvent) {
			if e.Kind == model.Arrived && e.Port == f.Downlink(1) {
				if h := sird.Parse(e.Packet.Header()); h.Offset < next {
					late++
				} else {
					next = h.Offset
				}
			}
		},
	})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	m := sim.Messages()[0]
	// The request may take the near spine or the far one, and so may the last packet.
	want := f.UnloadedExact(0, 1, m.Size, sird.Protocol.Framing(f.Spec.MTU)) + f.Transit(f.Path(0, 1, 0), 96) +
		f.Transit(f.Path(1, 0, 0), 84)
	if late < 500 || m.Latency() > want+4*5000 {
		t.Errorf("%d packets late; latency %v, want at most %v", late, m.Latency(), want+4*5000)
	}
	if again := modeltest.Counted(f, sim, "retransmissions") + modeltest.Counted(f, sim, "resends_asked") +
		modeltest.Counted(f, sim, "duplicate_data"); again != 0 {
		t.Errorf("%d signs of loss", again)
	}
	if sim.Totals().Mismatches != 0 {
		t.Error("wrong bytes")
	}
}
