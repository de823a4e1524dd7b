package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Paper, section 4.2: with B >= BDP + SThr a receiver fills its downlink however
// many of its senders are congested, k of them sending to f > k receivers each.
// Without sender information (SThr inf) the credit they accumulate leaves too little.
func TestBOfBDPPlusSThrFillsTheDownlinkWithAnyNumberOfCongestedSenders(t *testing.T) {
	for _, c := range []struct {
		k, f     int // congested senders, receivers of each
		b, sthr  sird.Multiple
		receiver string
		least    float64 // share of the downlink
		most     float64
	}{
		{0, 2, 1.5, 0.5, "round_robin", 0.98, 1},
		{1, 2, 1.5, 0.5, "round_robin", 0.98, 1},
		{2, 3, 1.5, 0.5, "round_robin", 0.98, 1},
		{3, 4, 1.5, 0.5, "round_robin", 0.98, 1},
		{5, 6, 1.5, 0.5, "round_robin", 0.98, 1},
		{3, 8, 1.5, 0.5, "round_robin", 0.98, 1},
		{3, 8, 1.5, 0.5, "srpt", 0.98, 1},
		{3, 8, 1.5, inf, "round_robin", 0, 0.7},
	} {
		// Host 0 is the receiver, 1 sends to it alone, then come k congested
		// senders and their f - 1 other receivers.
		f := rack(t, 1+c.k+c.f)
		p := params(f, func(p *sird.Params) {
			p.B, p.SThr, p.SenderFair, p.ReceiverPolicy, p.BDP = c.b, c.sthr, 1, c.receiver, f.BDP()
		})
		var sends []model.Send
		add := func(src, dst int) {
			sends = append(sends, model.Send{Src: topo.HostID(src), Dst: topo.HostID(dst), Size: 50_000_000})
		}
		for s := 2; s < 2+c.k; s++ {
			add(s, 0)
			for r := 2 + c.k; r < 1+c.k+c.f; r++ {
				add(s, r)
			}
		}
		for range 2 {
			add(1, 0)
		}
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends})
		sim.Run(600 * units.Microsecond)
		before := sim.Port(f.Downlink(0).ID).WireBytes
		const window = 600 * units.Microsecond
		sim.Run(sim.Now() + window)
		wire := sim.Port(f.Downlink(0).ID).WireBytes - before
		share := float64(modeltest.RateOf(units.Bytes(wire), window)) / float64(100*units.Gbps)
		if share < c.least || share > c.most+0.001 {
			t.Errorf("%+v: %.3f of the downlink in use", c, share)
		}
	}
}

// Paper, section 6.1.2, and README, Analytic points: in outcast each of n
// receivers comes to allocate (BDP + SThr)/n to a sender that all of them use,
// where the accumulated credit stays below SThr on average; without sender
// information each allocates one BDP.
func TestOutcastReceiversShareBDPPlusSThr(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for _, sthr := range []sird.Multiple{0.5, inf} {
			f := rack(t, 1+n)
			p := params(f, func(p *sird.Params) { p.SThr, p.SenderFair, p.BDP = sthr, 1, f.BDP() })
			var sends []model.Send
			for r := 1; r <= n; r++ {
				sends = append(sends, model.Send{Dst: topo.HostID(r), Size: 100_000_000})
			}
			sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends})
			sim.Run(2 * units.Millisecond)
			each := make([]float64, n+1)
			held, samples := 0.0, 0.0
			for sim.Now() < 5*units.Millisecond {
				sim.Run(sim.Now() + units.Microsecond)
				for r := 1; r <= n; r++ {
					each[r] += float64(at(sim, topo.HostID(r)).InFlight(0))
				}
				held += float64(at(sim, 0).Held())
				samples++
			}
			want := float64(p.BDP) * 1.5 / float64(n)
			if sthr == inf {
				want = float64(p.BDP)
			} else if got := held / samples; got > float64(p.BDP)/2 {
				t.Errorf("%d receivers: %.0f held on average, SThr is %d", n, got, p.BDP/2)
			}
			for r := 1; r <= n; r++ {
				if got := each[r] / samples; got < want*0.85 || got > want*1.15 {
					t.Errorf("SThr %v: receiver %d of %d allocates %.0f, want %.0f", sthr, r, n, got, want)
				}
			}
		}
	}
}
