package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
)

// README, Crediting: oldest_share of a receiver's credit goes to the message that came first,
// which SRPT starves while smaller ones come.
func TestOldestMessageHasItsShare(t *testing.T) {
	f := rack(t, 4)
	const window = 5 * units.Millisecond
	for _, share := range []float64{0, 0.05, 0.3} {
		sends := []model.Send{{Src: 1, Size: 60_000_000}}
		for range 200 { // 1 MB each of two senders, as long as the window
			sends = append(sends, model.Send{At: 10_000, Src: 2, Size: 1_000_000},
				model.Send{At: 10_000, Src: 3, Size: 1_000_000})
		}
		oldest, all := slots{from: 1, every: window}, slots{from: 2, every: window}
		other := slots{from: 3, every: window}
		sim := newSim(t, model.Config{Fabric: f, Sends: sends,
			Params: params(f, func(p *sird.Params) { p.OldestShare = share }),
			OnPacket: func(e model.PacketEvent) {
				oldest.count(f, e)
				all.count(f, e)
				other.count(f, e)
			}})
		sim.Run(2*window + 1)
		bounded(t, sim, 0)
		got := 0.0
		if len(oldest.bytes) > 1 {
			got = float64(oldest.bytes[1])
		}
		sum := got + float64(all.bytes[1]) + float64(other.bytes[1])
		if got /= sum; got < share-0.02 || got > share+0.02 {
			t.Errorf("%.3f of the bytes, want %g", got, share)
		}
		if rate := modeltest.RateOf(units.Bytes(sum), window); rate < 92*units.Gbps {
			t.Errorf("share %g: %v in all, want 92 Gbps", share, rate)
		}
	}
}

// README, Control loops: a bucket that was cut is as it was however long its sender is idle, or
// grows back by bucket_aging.
func TestIdleBucketsGrowBack(t *testing.T) {
	f := rack(t, 2)
	latency := func(aging, idle units.Time, cut bool) units.Time {
		sends := []model.Send{{Dst: 1, Size: 8}, {At: idle, Dst: 1, Size: 500_000}}
		sim := newSim(t, model.Config{Fabric: f, Sends: sends,
			Params: params(f, func(p *sird.Params) { p.BucketAging = aging })})
		sim.Run(20 * units.Microsecond)
		if cut {
			at(sim, 1).Loops(0).SetBuckets(10_000, 3_000)
		}
		modeltest.AllDone(t, f, sim, 2*units.Second)
		return sim.Messages()[1].Latency()
	}
	fresh := latency(0, units.Second, false)
	for _, c := range []struct {
		aging, idle units.Time
		least, most float64 // of the latency without a cut
	}{
		{0, units.Second, 2, 6},
		{10 * units.Millisecond, units.Second, 1, 1.01},
		{10 * units.Millisecond, 12 * units.Millisecond, 1.05, 2},
		{10 * units.Millisecond, units.Millisecond, 2, 6},
	} {
		got := float64(latency(c.aging, c.idle, true)) / float64(fresh)
		if got < c.least || got > c.most {
			t.Errorf("aging %v, idle for %v: %.2f times the latency of a sender that was never cut, want %g to %g",
				c.aging, c.idle, got, c.least, c.most)
		}
	}
}
