package dctcp_test

import (
	"encoding/json"
	"math"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/baselines/dctcp"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

const (
	us    = units.Microsecond
	full  = 1443 // payload of a full packet
	frame = 1538 // what it takes on a link
)

// rack is hosts under one switch, with a round trip of 7.4 us: 60 full packets.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1750) }

func params(f *topo.Fabric, change func(*dctcp.Params)) *dctcp.Params {
	return modeltest.Params(dctcp.Protocol, f, change)
}

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, dctcp.Protocol, c) }

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *dctcp.DCTCP { return sim.Host(h).Transport().(*dctcp.DCTCP) }

// leavesHost reports that data leaves its sender.
func leavesHost(f *topo.Fabric, e model.PacketEvent) bool {
	return modeltest.Leaving(f, e) && e.Packet.PayloadLen > 0
}

// Paper, section 6.2, table of parameters; README, Parameters.
func TestDefaultsAreThePapers(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Paper)
	want := dctcp.Params{
		InitialWindow: 66, MaxWindow: 1256, Growth: "always", Gain: 0.08, K: 125_000, UplinkMarks: true,
		MinRTO: 200 * us, MaxTimeouts: 15,
		DelayedAck: 6 * us, SegmentsPerAck: 1, Connections: 40,
	}
	if got := *dctcp.DefaultParams(f); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	n := dctcp.Protocol.Network(f, dctcp.DefaultParams(f))
	if n.Priorities != 1 || n.MarkCore != 125_000 || n.MarkEdge != 125_000 || n.CreditClass {
		t.Errorf("ports: %+v", n)
	}
	p, err := all.DecodeParams(dctcp.Protocol, f, json.RawMessage(`{"k": "123KB"}`))
	if n := dctcp.Protocol.Network(f, p); err != nil || n.MarkCore != 123_000 || n.MarkEdge != 123_000 {
		t.Errorf("released threshold: %+v (%v)", n, err)
	}
}

// The window, its cap and K scale with the hosts' rate.
func TestDefaultsFollowTheRate(t *testing.T) {
	s := topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 400 * units.Gbps, HostDelay: 1000}
	if p := dctcp.DefaultParams(modeltest.Fabric(t, s)); p.InitialWindow != 264 || p.K != 500_000 ||
		p.MaxWindow != 5024 {
		t.Errorf("%+v", p)
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, dctcp.Protocol, map[string][]string{
		"initial_window":   {`0`, `0.5`, `2000`},
		"max_window":       {`0`, `-1`},
		"growth":           {`"never"`},
		"gain":             {`1.1`, `-0.1`},
		"initial_alpha":    {`2`},
		"k":                {`1000`},
		"min_rto":          {`"0s"`, `"2s"`},
		"max_timeouts":     {`0`},
		"delayed_ack":      {`"200us"`},
		"segments_per_ack": {`0`},
		"connections":      {`0`, `257`},
	})
}

// senders has n hosts send to another one without end.
func senders(t testing.TB, n int, change func(*dctcp.Params)) (*topo.Fabric, *model.Sim) {
	f := rack(t, n+1)
	var sends []model.Send
	for h := range n {
		sends = append(sends, model.Send{Src: topo.HostID(h), Dst: topo.HostID(n), Size: 1 << 31})
	}
	return f, newSim(t, model.Config{Fabric: f, Params: params(f, change), Sends: sends})
}

// DCTCP paper, sections 3.3 and 4.1.1: with a few long flows the queue varies
// between a little above K (N segments, one for each flow's increase before the
// marks come back) and an amplitude of O(sqrt(BDP)) below, and the link stays
// full. K is 1.25 BDP on all ports (README, Marking).
func TestQueueStaysAroundKAndTheLinkFull(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		for _, k := range []units.Bytes{125_000, 123_000, 60_000} {
			f, sim := senders(t, n, func(p *dctcp.Params) { p.K = k })
			port := f.Downlink(topo.HostID(n)).ID
			sim.Run(4 * units.Millisecond)
			sim.ResetQueues()
			before := sim.Port(port).WireBytes
			sim.Run(8 * units.Millisecond)
			q := sim.Queue(port)
			rate := modeltest.RateOf(units.Bytes(sim.Port(port).WireBytes-before), 4*units.Millisecond).Gigabits()
			t.Logf("%d senders, K %v: queue mean %.0f, max %d; %.2f Gbps", n, k, q.Mean, q.Max, rate)
			if rate < 99.9 {
				t.Errorf("%d senders, K %v: %.2f Gbps on the wire", n, k, rate)
			}
			if q.Max < k || q.Max > k+units.Bytes(4*n*frame) || q.Mean < 0.75*float64(k) || q.Mean > 1.1*float64(k) {
				t.Errorf("%d senders, K %v: queue mean %.0f, max %v", n, k, q.Mean, q.Max)
			}
		}
	}
}

// As released, a host's own queue marks too, so that a flow alone on its path
// is marked at its uplink (README, Marking): its window stays around the 60
// segments of the round trip and the 81 of K, where it would otherwise grow to
// the cap.
func TestUplinkMarksBoundALoneFlow(t *testing.T) {
	for _, marks := range []bool{true, false} {
		f, sim := senders(t, 1, func(p *dctcp.Params) { p.UplinkMarks = marks })
		sim.Run(2 * units.Millisecond)
		before, least, most := sim.Port(f.Uplink(0).ID).WireBytes, math.Inf(1), 0.0
		for range 200 {
			sim.Run(sim.Now() + 20*us)
			window, _, _ := at(sim, 0).Controls()[0].State()
			least, most = min(least, window), max(most, window)
		}
		rate := modeltest.RateOf(units.Bytes(sim.Port(f.Uplink(0).ID).WireBytes-before), 4*units.Millisecond).Gigabits()
		t.Logf("uplink marks %v: window %.0f to %.0f, %.2f Gbps", marks, least, most, rate)
		if rate < 99.9 {
			t.Errorf("uplink marks %v: %.2f Gbps", marks, rate)
		}
		if marks && (least < 100 || most > 160) || !marks && most != 1256 {
			t.Errorf("uplink marks %v: window %.0f to %.0f", marks, least, most)
		}
	}
}

// The same at a leaf-spine port: all switch ports mark.
func TestCoreIsKeptAroundKToo(t *testing.T) {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps,
		CoreRate: 100 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Src: 0, Dst: 2, Size: 1 << 31},
		{Src: 1, Dst: 3, Size: 1 << 31}}})
	up := f.Nodes[f.LeafOf(0)].Ports[2]
	sim.Run(4 * units.Millisecond)
	sim.ResetQueues()
	sim.Run(8 * units.Millisecond)
	if q := sim.Queue(up); !f.Ports[up].Core || q.Max < 125_000 || q.Max > 125_000+8*frame || q.Mean < 0.75*125_000 {
		t.Errorf("%s: %+v", f.Ports[up].Name, q)
	}
}

// DCTCP paper, section 3.3: in steady state alpha is about sqrt(2/W), where W
// is the critical window, and flows have equal windows.
func TestAlphaSettles(t *testing.T) {
	for _, n := range []int{2, 4} {
		_, sim := senders(t, n, nil)
		sim.Run(10 * units.Millisecond)
		critical := (7_400/123.04 + 125_000/float64(frame)) / float64(n) // round trip and K, in segments
		want := math.Sqrt(2 / critical)
		total := 0.0
		for range 100 { // over several of its periods
			sim.Run(sim.Now() + 20*us)
			for h := range n {
				window, _, alpha := at(sim, topo.HostID(h)).Controls()[0].State()
				total += alpha / float64(100*n)
				if window < 0.5*critical || window > 1.5*critical {
					t.Errorf("%d senders: a window of %.1f, want about %.1f", n, window, critical)
				}
			}
		}
		t.Logf("%d senders: alpha %.3f, sqrt(2/W) %.3f", n, total, want)
		if total < 0.6*want || total > 1.6*want {
			t.Errorf("%d senders: alpha %.3f, want about %.3f", n, total, want)
		}
	}
}

// Each message starts from a window of 66 segments; alpha and the threshold
// belong to the connection and stay (README, Window).
func TestEachMessageBeginsWithTheInitialWindow(t *testing.T) {
	f := rack(t, 3)
	burst := map[transport.MessageID]int{}
	acked := map[transport.MessageID]bool{}
	sim := newSim(t, model.Config{
		Fabric: f, Params: params(f, func(p *dctcp.Params) { p.Connections = 1 }),
		Sends: []model.Send{{Src: 0, Dst: 2, Size: 10_000_000}, {Src: 1, Dst: 2, Size: 9_000_000},
			{At: 3 * units.Millisecond, Src: 0, Dst: 2, Size: 200 * full}},
		OnPacket: func(e model.PacketEvent) {
			if leavesHost(f, e) && e.Src == 0 && !acked[e.Packet.ID] {
				burst[e.Packet.ID]++
			}
			if e.Kind == model.Arrived && e.Port == f.Downlink(0) {
				acked[transport.MessageID(e.Packet.HeaderBytes[6])] = true
			}
		},
	})
	sim.Run(3*units.Millisecond - 1)
	_, threshold, alpha := at(sim, 0).Controls()[0].State()
	sim.Run(3*units.Millisecond + us)
	window, threshold2, alpha2 := at(sim, 0).Controls()[0].State()
	if window != 66 || threshold2 != threshold || alpha2 != alpha || alpha < 0.01 || threshold > 1000 {
		t.Errorf("window %g; threshold %g, was %g; alpha %g, was %g", window, threshold2, threshold, alpha2, alpha)
	}
	modeltest.AllDone(t, f, sim, units.Second)
	// A round trip of 7.3 us lets 60 out before the first acknowledgement.
	for id, n := range burst {
		if n < 59 || n > 66 {
			t.Errorf("message %d: %d segments before the first acknowledgement", id, n)
		}
	}
}
