package dctcp_test

import (
	"math"
	"testing"

	"sirdbed/baselines/dctcp"
	"sirdbed/baselines/flow"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// windows feeds a control law whole windows of single acknowledgements, of
// which the first few of each window are marked. It returns the order that it
// has reached.
func windows(c *dctcp.Control, order uint64, n, size, marked int) uint64 {
	for range n {
		next := order + uint64(size)
		for i := range size {
			order++
			c.OnAck(0, flow.Ack{Segments: 1, Marked: i < marked, Highest: order, Next: next + uint64(i)})
		}
	}
	return order
}

// Alpha starts at 0 and is updated once per window with g = 0.08 (README,
// Window): after n windows in which a share f is marked, it is f (1 - 0.92^n).
func TestAlphaIsAMovingAverageOverWindows(t *testing.T) {
	for _, c := range []struct{ n, marked int }{{1, 100}, {10, 100}, {10, 50}, {60, 25}, {200, 10}} {
		l := dctcp.NewControl(params(rack(t, 2), nil))
		l.Set(100, 50, 0)
		windows(l, 0, 1, 1, 0) // the first acknowledgement ends a window of its own
		windows(l, 1, c.n, 100, c.marked)
		_, _, alpha := l.State()
		share := float64(c.marked) / 100
		want := share * (1 - math.Pow(0.92, float64(c.n)))
		// The last window may still be open.
		least := share * (1 - math.Pow(0.92, float64(c.n-1)))
		if alpha < least-0.09*share-1e-9 || alpha > want+0.09*share+1e-9 {
			t.Errorf("%d windows of %d %% marks: alpha %g, want %g", c.n, c.marked, alpha, want)
		}
	}
}

// The window is cut to 1 - alpha/2 once per window of data, however many of its
// segments are marked (README, Window).
func TestOneCutPerWindow(t *testing.T) {
	for _, marked := range []int{1, 10, 100} {
		l := dctcp.NewControl(params(rack(t, 2), func(p *dctcp.Params) { p.Gain = 0 }))
		l.Set(100, 50, 0.5)
		cuts := 0
		next := uint64(100)
		last := 100.0
		for i := range 300 {
			order := uint64(i + 1)
			l.OnAck(0, flow.Ack{Segments: 1, Marked: i%100 < marked, Highest: order, Next: next + uint64(i)})
			window, threshold, _ := l.State()
			if window < last {
				cuts++
				// In a burst of marks the same acknowledgement opens the window.
				if want := last * 0.75; math.Abs(threshold-want) > 1e-9 || window < want || window > want+1/want {
					t.Errorf("cut from %g to %g, threshold %g; want %g", last, window, threshold, want)
				}
			}
			last = window
		}
		if cuts != 3 {
			t.Errorf("%d of 100 marked: %d cuts in 3 windows", marked, cuts)
		}
	}
}

// The same over a network: a long flow's window is not cut again before
// everything that it had sent by the last cut is acknowledged.
func TestOneCutPerRoundTripOnTheFabric(t *testing.T) {
	_, sim := senders(t, 2, nil)
	sim.Run(2 * units.Millisecond)
	cuts, lastCut := 0, units.Time(0)
	last, _, _ := at(sim, 0).Controls()[0].State()
	for sim.Now() < 6*units.Millisecond {
		sim.Run(sim.Now() + 50) // ns: less than a packet takes
		window, _, _ := at(sim, 0).Controls()[0].State()
		if window < last-1e-9 {
			if cuts++; sim.Now()-lastCut < 15*us { // 7.3 us and a queue of about 110 KB
				t.Errorf("cut at %v and at %v", lastCut, sim.Now())
			}
			lastCut = sim.Now()
		}
		last = window
	}
	if cuts < 20 {
		t.Errorf("%d cuts", cuts)
	}
}

// Slow start up to the threshold, then one segment per window (README, Window).
func TestSlowStartThenOnePerWindow(t *testing.T) {
	l := dctcp.NewControl(params(rack(t, 2), nil))
	l.Set(10, 40, 0)
	for i, want := range []float64{20, 40} {
		before, _, _ := l.State()
		windows(l, uint64(100*i), 1, int(before), 0)
		if window, _, _ := l.State(); window != want {
			t.Errorf("after %d windows: %g, want %g", i+1, window, want)
		}
	}
	for i := range 5 {
		before, _, _ := l.State()
		windows(l, uint64(1000+100*i), 1, int(before), 0)
		if window, _, _ := l.State(); window < before+0.95 || window > before+1 {
			t.Errorf("congestion avoidance: from %g to %g", before, window)
		}
	}
}

// README, Window: of a burst of marked acknowledgements the first does not open the
// window, and those after it do; with Linux's rule none does.
func TestGrowthOnMarkedAcknowledgements(t *testing.T) {
	for growth, want := range map[string][]float64{
		// An acknowledgement after the cut opens a window of 10 by a tenth.
		"always":  {10.1, 10.1, 10.2, 10.3, 10.4, 10.4, 10.5},
		"limited": {10.1, 10.1, 10.1, 10.1, 10.2, 10.2, 10.2},
	} {
		l := dctcp.NewControl(params(rack(t, 2), func(p *dctcp.Params) { p.Growth, p.Gain = growth, 0 }))
		l.Set(10, 10, 0) // alpha 0: cuts leave the window as it is
		for i, marked := range []bool{false, true, true, true, false, true, true} {
			l.OnAck(0, flow.Ack{Segments: 1, Marked: marked, InFlight: 20, Highest: uint64(i + 1), Next: 1000})
			if window, _, _ := l.State(); math.Abs(window-want[i]) > 0.01 {
				t.Errorf("%s, acknowledgement %d: window %g, want %g", growth, i, window, want[i])
			}
		}
	}
}

// The same on the wire: segments sent per round trip double from an initial
// window of 2.
func TestSlowStartDoublesEachRoundTrip(t *testing.T) {
	f := rack(t, 2)
	perRound := map[int]int{}
	round := f.Transit(f.Path(0, 1, 0), frame) + f.Transit(f.Path(1, 0, 0), 89)
	sim := newSim(t, model.Config{
		Fabric: f, Params: params(f, func(p *dctcp.Params) { p.InitialWindow = 2 }),
		Sends: []model.Send{{Dst: 1, Size: 63 * full}},
		OnPacket: func(e model.PacketEvent) {
			if leavesHost(f, e) {
				perRound[int((e.At+100)/round)]++ // acknowledgements are 123 ns apart
			}
		},
	})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	for round, want := range []int{2, 4, 8, 16} {
		if perRound[round] != want {
			t.Errorf("round trip %d: %d segments, want %d (%v)", round, perRound[round], want, perRound)
		}
	}
}

// The window is capped at 1256 segments (README, Parameters). A sender that
// only its own link limits reaches the cap if its own queue does not mark; with
// Linux's rule its window stays at about twice the 60 segments that the link
// lets into the network.
func TestWindowIsCapped(t *testing.T) {
	f := rack(t, 2)
	for growth, most := range map[string]float64{"always": 1256, "limited": 125} {
		sim := newSim(t, model.Config{
			Fabric: f, Params: params(f, func(p *dctcp.Params) { p.Growth, p.UplinkMarks = growth, false }),
			Sends: []model.Send{{Dst: 1, Size: 1 << 30}},
		})
		sim.Run(2 * units.Millisecond)
		if window, _, _ := at(sim, 0).Controls()[0].State(); window > most || window < 0.9*most {
			t.Errorf("growth %s: %g, want %g", growth, window, most)
		}
	}
}

// Loss is found by three later segments, and halves the window (README, Loss).
func TestLossHalvesTheWindow(t *testing.T) {
	f := rack(t, 2)
	lost := 0
	var window float64
	var sim *model.Sim
	sim = newSim(t, model.Config{
		Fabric: f, Params: params(f, func(p *dctcp.Params) { p.MaxWindow = 100 }),
		Sends: []model.Send{{Dst: 1, Size: 5_000_000}},
		Lose: func(e model.PacketEvent) bool {
			if e.At < 200*us || e.Packet.PayloadLen == 0 || lost >= 5 {
				return false
			}
			lost++
			window, _, _ = at(sim, 0).Controls()[0].State()
			return true
		},
	})
	sim.Run(200*us + 20*us)
	after, threshold, _ := at(sim, 0).Controls()[0].State()
	if window != 100 || after < 50 || after > 51 || threshold != 50 {
		t.Errorf("window %g, after a loss %g, threshold %g", window, after, threshold)
	}
	modeltest.AllDone(t, f, sim, units.Second)
	if n := sim.Host(0).Counter("timeouts"); n != 0 || sim.Host(0).Counter("retransmissions") != 5 {
		t.Errorf("%d timeouts, %d retransmissions", n, sim.Host(0).Counter("retransmissions"))
	}
}

// The least retransmission timeout is 200 us (README, Parameters). After one
// the window is one segment, and slow start begins.
func TestTimeoutAfter200usBeginsWithOneSegment(t *testing.T) {
	f := rack(t, 2)
	var again units.Time
	dead := true
	sim := newSim(t, model.Config{
		Fabric: f, Sends: []model.Send{{Dst: 1, Size: 66 * full}},
		Lose: func(e model.PacketEvent) bool { return dead && e.Port == f.Downlink(1) },
		OnPacket: func(e model.PacketEvent) {
			if leavesHost(f, e) && e.At > 100*us && again == 0 {
				again, dead = e.At, false
			}
		},
	})
	sim.Run(205 * us)
	if window, threshold, _ := at(sim, 0).Controls()[0].State(); again != 200*us || window != 1 || threshold != 33 {
		t.Errorf("resent at %v with a window of %g, threshold %g", again, window, threshold)
	}
	modeltest.AllDone(t, f, sim, units.Second)
}

var _ transport.Transport = (*dctcp.DCTCP)(nil)
