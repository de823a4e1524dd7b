package swift_test

import (
	"math"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/baselines/swift"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// Below the target the window grows by ai/window for each acknowledged segment,
// so by ai per window, and by ai for each while it is below 1 (README, Window).
func TestIncreaseIsAdditive(t *testing.T) {
	c := swift.NewControl(params(rack(t, 2), nil), 1)
	c.Set(50)
	for range 50 {
		c.OnAck(0, flow.Ack{Segments: 1, Delay: 8 * us, RTT: 8 * us})
	}
	if w := c.Window(); w < 50.98 || w > 51 {
		t.Errorf("after a window: %g", w)
	}
	c.Set(50)
	c.OnAck(0, flow.Ack{Segments: 5, Delay: 8 * us, RTT: 8 * us})
	if c.Window() != 50.1 {
		t.Errorf("five segments at once: %g", c.Window())
	}
	c.Set(0.25)
	c.OnAck(0, flow.Ack{Segments: 1, Delay: 8 * us, RTT: 8 * us})
	if c.Window() != 1.25 {
		t.Errorf("from a quarter: %g", c.Window())
	}
}

// Above the target the window is multiplied by max(1 - beta (delay -
// target)/delay, 1 - max_mdf) (README, Window).
func TestDecreaseIsProportionalAndBounded(t *testing.T) {
	for excess, want := range map[float64]float64{ // delay over target
		1:    1,
		1.25: 1 - 0.8*0.2,
		2:    1 - 0.8*0.5,
		4:    0.5,
		1000: 0.5,
	} {
		c := swift.NewControl(params(rack(t, 2), nil), 1)
		c.Set(80)
		delay := flow.Time(excess * float64(c.Target(80)+1))
		c.OnAck(0, flow.Ack{Segments: 1, Delay: delay, RTT: delay})
		if w := c.Window(); math.Abs(w/80-want) > 1e-3 {
			t.Errorf("%g times the target: window %g, want %g", excess, w, 80*want)
		}
	}
}

// There is at most one decrease per round trip (README, Window).
func TestDecreaseOncePerRoundTrip(t *testing.T) {
	c := swift.NewControl(params(rack(t, 2), nil), 1)
	c.Set(64)
	cuts, last := []units.Time(nil), 64.0
	for now := units.Time(0); now < 100*us; now += 123 {
		c.OnAck(now, flow.Ack{Segments: 1, Delay: 500 * us, RTT: 20 * us})
		if now%(5*us) < 123 {
			c.OnLoss(now) // which is a decrease too
		}
		if w := c.Window(); w != last {
			if w != last/2 {
				t.Errorf("from %g to %g", last, w)
			}
			cuts, last = append(cuts, now), w
		}
	}
	if len(cuts) != 5 {
		t.Errorf("cut at %v, want once in 20 us", cuts)
	}
	for i := 1; i < len(cuts); i++ {
		if cuts[i]-cuts[i-1] < 20*us {
			t.Errorf("cut at %v", cuts)
		}
	}
}

// The same over a fabric: however deep the queue of an incast, a window is at
// most halved, and not again within a round trip.
func TestIncastHalvesWindowsOncePerRoundTrip(t *testing.T) {
	const n = 16
	f := rack(t, n+1)
	var sends []model.Send
	for h := range n {
		sends = append(sends, model.Send{Src: f.Hosts[h], Dst: n, Size: 1 << 31})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends})
	last, lastCut, cuts := 66.0, units.Time(0), 0
	for sim.Now() < 500*us {
		sim.Run(sim.Now() + 20)
		list := controls(sim, 0, n)
		if len(list) == 0 {
			continue
		}
		w := list[0].Window()
		if w < last*(1-1e-9) {
			cuts++
			if w < last*0.4999 || lastCut > 0 && sim.Now()-lastCut < roundTrip(f, 0, n)-40 {
				t.Errorf("at %v from %g to %g, last cut at %v", sim.Now(), last, w, lastCut)
			}
			lastCut = sim.Now()
		}
		last = w
	}
	if cuts < 4 {
		t.Errorf("%d cuts", cuts)
	}
}

// A timeout multiplies the window by 1 - max_mdf, the twelfth in a row sets it
// to the least of 0.001 (README, Window). The least timeout is 10 ms (README,
// Parameters).
func TestTimeouts(t *testing.T) {
	p := params(rack(t, 2), nil)
	c := swift.NewControl(p, 1)
	want := 66.0
	for n := 1; n <= 14; n++ {
		c.OnTimeout(units.Time(n)*units.Second, n)
		if want /= 2; n >= 12 {
			want = 0.001
		}
		if math.Abs(c.Window()-want) > 1e-9 {
			t.Errorf("after %d timeouts: %g, want %g", n, c.Window(), want)
		}
	}
	f := rack(t, 2)
	var sent []units.Time
	sim := newSim(t, model.Config{
		Fabric: f, Sends: []model.Send{{Dst: 1, Size: 100}},
		Lose: func(e model.PacketEvent) bool { return e.Port == f.Downlink(1) && e.At < 25*units.Millisecond },
		OnPacket: func(e model.PacketEvent) {
			if leavesHost(f, e) {
				sent = append(sent, e.At)
			}
		},
	})
	modeltest.AllDone(t, f, sim, units.Second)
	if len(sent) != 3 || sent[1] != 10*units.Millisecond || sent[2] != 30*units.Millisecond {
		t.Errorf("sent at %v", sent)
	}
}

// The pacing gap is RTT/window below a window of one, and none above (README,
// Window).
func TestPacingGap(t *testing.T) {
	c := swift.NewControl(params(rack(t, 2), nil), 1)
	c.OnAck(0, flow.Ack{Segments: 1, Delay: 8 * us, RTT: 20 * us})
	for window, want := range map[float64]units.Time{1: 0, 5: 0, 0.5: 40 * us, 0.001: 20 * units.Millisecond} {
		c.Set(window)
		if got := c.Pacing(); got != want {
			t.Errorf("window %g: %v, want %v", window, got, want)
		}
	}
}

// The window stays within its bounds.
func TestWindowIsBounded(t *testing.T) {
	p := params(rack(t, 2), nil)
	c := swift.NewControl(p, 1)
	c.Set(p.MaxWindow)
	c.OnAck(0, flow.Ack{Segments: 100, Delay: us, RTT: us})
	if c.Window() != p.MaxWindow {
		t.Errorf("%g", c.Window())
	}
	for n := range 100 {
		c.OnAck(units.Time(n)*units.Millisecond, flow.Ack{Segments: 1, Delay: units.Millisecond, RTT: us})
	}
	if c.Window() != p.MinWindow {
		t.Errorf("%g", c.Window())
	}
}

var _ transport.Transport = (*swift.Swift)(nil)
