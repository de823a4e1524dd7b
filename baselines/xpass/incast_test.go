package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// longFlows has k hosts send to host 0 without end, and returns what the
// downlink carried in a window after convergence, as a share of what
// ExpressPass leaves for data, with its longest queue and the share of credits
// that were lost.
func longFlows(
	t *testing.T, f *topo.Fabric, p *xpass.Params, k int, window units.Time,
) (used float64, queue units.Bytes, loss float64, sim *model.Sim) {
	t.Helper()
	var sends []model.Send
	for i := 1; i <= k; i++ {
		sends = append(sends, model.Send{Src: topo.HostID(i), Dst: 0, Size: 1 << 31})
	}
	sim = newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, Seed: 1})
	down := f.Downlink(0)
	sim.Run(window)
	at(sim, 0).Loss()
	before := sim.Port(down.ID).WireBytes
	sim.Run(2 * window)
	total, lost := at(sim, 0).Loss()
	bits := float64(sim.Port(down.ID).WireBytes-before) * 8
	room := float64(down.Rate) * (1 - xpass.CreditShare(f, p)) * window.Seconds()
	return bits / room, sim.Queue(down.ID).Max, float64(lost) / float64(total), sim
}

// With one receiver and many senders the downlink's data queue stays below a
// few packets, from the first round trip on, and the link stays nearly full
// (ExpressPass paper, section 6.1, figures 1 and 10). The control loop's target
// for the loss of credits is (1 - rate/highest)/8 for each flow (README,
// Feedback), at most 1/8. Flows with only a few credits per round trip see a
// loss of none or of a half, and each increase is at least w_min, 0.01, of the
// highest rate however small a flow's share is, so that the loss grows with
// their number; what is lost is credits, not data.
func TestQueueStaysShortAndTheLinkFull(t *testing.T) {
	for _, c := range []struct {
		senders         int
		leastLoss, most float64
	}{
		{1, 0, 0.001},
		{2, 0.04, 0.1},
		{4, 0.09, 0.2},
		{8, 0.11, 0.3},
		{16, 0.11, 0.45},
		{32, 0.11, 0.5},
	} {
		f := rack(t, c.senders+1)
		used, queue, loss, _ := longFlows(t, f, params(f, nil), c.senders, 3*units.Millisecond)
		t.Logf("%2d senders: %.3f of the room for data used, %v waited at most, %.3f of credits lost", c.senders, used,
			queue, loss)
		if used < 0.95 || used > 1.003 {
			t.Errorf("%d senders: %.3f of the room for data used", c.senders, used)
		}
		if queue > 3*1514 {
			t.Errorf("%d senders: %v waited", c.senders, queue)
		}
		if loss < c.leastLoss || loss > c.most {
			t.Errorf("%d senders: %.3f of credits lost, want %g to %g", c.senders, loss, c.leastLoss, c.most)
		}
	}
}

// If a round trip holds many credits, the loss is within a factor of two of the
// target: (1 - 1/k)/8 for each of k equal flows (README, Feedback).
func TestLossIsNearItsTargetOverLongRoundTrips(t *testing.T) {
	for _, k := range []int{2, 4, 8} {
		f := modeltest.Fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: k + 1, HostRate: 100 * units.Gbps,
			HostDelay: 25_000})
		_, _, loss, _ := longFlows(t, f, params(f, nil), k, 15*units.Millisecond)
		target := (1 - 1/float64(k)) / 8
		t.Logf("%d senders: loss %.3f, target %.3f", k, loss, target)
		if loss < target/2 || loss > 2*target {
			t.Errorf("%d senders: loss %.3f, target %.3f", k, loss, target)
		}
	}
}

// Jumbo frames and credits of one size fill the link as well.
func TestOtherSizesFillTheLinkToo(t *testing.T) {
	for _, mtu := range []units.Bytes{1500, 9000} {
		for _, size := range [][2]units.Bytes{{84, 84}, {76, 92}, {84, 118}} {
			f := modeltest.Fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: 5, HostRate: 100 * units.Gbps, HostDelay: 1250,
				MTU: mtu})
			p := params(f, func(p *xpass.Params) { p.CreditMin, p.CreditMax = size[0], size[1] })
			used, queue, _, _ := longFlows(t, f, p, 4, 3*units.Millisecond)
			t.Logf("MTU %v, credits of %v: %.3f used, %v waited", mtu, size, used, queue)
			if used < 0.95 || used > 1.003 || queue > 3*(mtu+14) {
				t.Errorf("MTU %v, credits of %v: %.3f used, %v waited", mtu, size, used, queue)
			}
		}
	}
}

// Two flows to one receiver share its link evenly (ExpressPass paper, section
// 6.1), even if one begins long after the other.
func TestTwoFlowsShareEvenly(t *testing.T) {
	for _, late := range []units.Time{0, units.Millisecond} {
		f := rack(t, 3)
		var got [3]units.Bytes
		sim := newSim(t, model.Config{Fabric: f, Seed: 3,
			Sends: []model.Send{{Src: 1, Size: 1 << 31}, {At: late, Src: 2, Size: 1 << 31}},
			OnPacket: func(e model.PacketEvent) {
				if e.Kind == model.Arrived && e.Port == f.Downlink(0) && e.At > 2*units.Millisecond {
					got[e.Src] += units.Bytes(e.Packet.PayloadLen)
				}
			}})
		sim.Run(10 * units.Millisecond)
		a, b := float64(got[1]), float64(got[2])
		jain := (a + b) * (a + b) / (2 * (a*a + b*b))
		t.Logf("second after %v: %.1f and %.1f Gbps, index %.4f", late, a*8/8e6, b*8/8e6, jain)
		if jain < 0.99 {
			t.Errorf("second after %v: %v and %v", late, got[1], got[2])
		}
	}
}

// Data and credits fill a link to the last bit when it carries both, since
// credits take what the data of the other direction leaves (ExpressPass paper,
// section 3.1). A credit that is due while the NIC sends a data packet waits
// for the packet's end, as it would in the port's credit class.
func TestBothDirectionsAtOnceFillTheLinks(t *testing.T) {
	for _, mtu := range []units.Bytes{1500, 9000} {
		for _, k := range []int{1, 4} {
			f := modeltest.Fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: k + 1, HostRate: 100 * units.Gbps,
				HostDelay: 1250, MTU: mtu})
			var sends []model.Send
			for i := range topo.HostID(k) {
				sends = append(sends, model.Send{Src: 1 + i, Dst: 0, Size: 1 << 31}, model.Send{Src: 0, Dst: 1 + i,
					Size: 1 << 31})
			}
			sim := newSim(t, model.Config{Fabric: f, Sends: sends})
			down, up := f.Downlink(0).ID, f.Uplink(0).ID
			sim.Run(2 * units.Millisecond)
			before := [2]int64{sim.Port(down).WireBytes, sim.Port(up).WireBytes}
			sim.Run(5 * units.Millisecond)
			for i, p := range []topo.PortID{down, up} {
				used := float64(sim.Port(p).WireBytes-before[i]) * 8 / 3e-3 / 100e9
				t.Logf("MTU %v, %d peers, %s: %.4f used, %v waited", mtu, k, f.Ports[p].Name, used, sim.Queue(p).Max)
				if used < 0.98 || sim.Queue(p).Max > 8*(mtu+14) {
					t.Errorf("MTU %v, %d peers, %s: %.4f used, %v waited", mtu, k, f.Ports[p].Name, used,
						sim.Queue(p).Max)
				}
			}
		}
	}
}

// The gauges of a run: rate, w and loss. One flow alone reaches the highest
// rate and a w of 1/2, and loses no credit.
func TestGauges(t *testing.T) {
	f := rack(t, 3)
	p := params(f, nil)
	sim := newSim(t, model.Config{Fabric: f, Params: p, GaugeEvery: 100 * units.Microsecond,
		Sends: []model.Send{{Src: 1, Size: 1 << 31}, {At: 2 * units.Millisecond, Src: 2, Size: 1 << 31}}})
	sim.Run(5 * units.Millisecond)
	g := sim.Gauges(0)
	highest := 100e9 / 8 * xpass.CreditShare(f, p)
	at := func(name string, when units.Time) float64 { return g[name][when/(100*units.Microsecond)].Value }
	if rate := at("credit_rate", 1900*units.Microsecond); rate < 0.999*highest || rate > 1.001*highest {
		t.Errorf("alone: rate %g, want %g", rate, highest)
	}
	if w, loss := at("w", 1900*units.Microsecond), at("credit_loss", 1900*units.Microsecond); w < 0.4 || w > 0.5 ||
		loss > 0.001 {
		t.Errorf("alone: w %g, loss %g", w, loss)
	}
	mean := 0.
	for ms10 := range units.Time(10) {
		mean += at("credit_loss", 4*units.Millisecond+ms10*100*units.Microsecond) / 10
	}
	if rate := at("credit_rate", 4*units.Millisecond); rate < 0.9*highest || mean < 0.03 || mean > 0.12 {
		t.Errorf("two: rate %g of %g, loss %g", rate, highest, mean)
	}
}
