package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Loss costs round trips: a message of 10 MB takes at most 1.2, 1.5 and 2.5 times as long
// with 0.1, 1 and 5 % of all packets lost.
func TestLossCostsRoundTrips(t *testing.T) {
	f := rack(t, 2)
	latency := func(seed uint64, loss float64) units.Time {
		sim := newSim(t, model.Config{Fabric: f, Seed: seed, Sends: []model.Send{{Dst: 1, Size: 10_000_000}},
			Faults: fault.Config{Drop: loss}})
		modeltest.AllDone(t, f, sim, 20*units.Second)
		return sim.Messages()[0].Latency()
	}
	for _, c := range []struct{ loss, most float64 }{{0.001, 1.2}, {0.01, 1.5}, {0.05, 2.5}} {
		var sum, worst units.Time
		const seeds = 10
		for seed := range uint64(seeds) {
			got := latency(seed, c.loss)
			sum += got
			worst = max(worst, got)
		}
		alone := latency(0, 0)
		t.Logf("loss %g: %v on average, %v at worst; %v without", c.loss, sum/seeds, worst, alone)
		if float64(worst) > c.most*float64(alone) {
			t.Errorf("loss %g: %v, want at most %g times %v", c.loss, worst, c.most, alone)
		}
	}
}

// With loss_detection silence a lost packet is requested after loss_timeout, as the paper
// has it (section 4.4), not when others that were sent later have arrived.
func TestLossMayBeDetectedBySilence(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		detection   string
		from, until units.Time
	}{{"order", 0, 2 * units.Microsecond}, {"silence", 1990 * units.Microsecond, 4 * units.Millisecond}} {
		p := params(f, func(p *sird.Params) { p.LossDetection = c.detection })
		latency := func(limit int) units.Time {
			sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 300_000}},
				Lose: loses(f, limit, func(_ model.PacketEvent, h sird.Header) bool {
					return h.Scheduled && h.Offset == 100*mss
				})})
			modeltest.AllDone(t, f, sim, units.Second)
			return sim.Messages()[0].Latency()
		}
		if more := latency(1) - latency(0); more < c.from || more > c.until {
			t.Errorf("%s: a lost packet costs %v, want %v to %v", c.detection, more, c.from, c.until)
		}
	}
}

// Nothing is requested, announced again, suspended or sent twice where nothing is lost, up to
// 95 % load, although packets are sprayed and messages wait at either end.
func TestNothingIsTakenForLostUnderLoad(t *testing.T) {
	for _, core := range []units.BitsPerSecond{400 * units.Gbps, 200 * units.Gbps} {
		s := modeltest.Eight
		s.CoreRate = core
		f := modeltest.Fabric(t, s)
		for i, sizes := range []string{"wka", "wkb"} {
			sim := newSim(t, model.Config{
				Fabric: f, Seed: uint64(i), To: 2 * units.Millisecond, Streams: []traffic.Stream{
					{Name: "all", Pattern: traffic.PatternPoisson, Sizes: sizes, Load: 0.88},
					{Name: "incast", Pattern: traffic.PatternIncast, Size: 500_000, Load: 0.07, FanIn: 7},
				},
			})
			sim.Run(3 * units.Millisecond)
			for _, name := range []string{"resends_asked", "messages_announced_again", "credit_suspensions",
				"credit_reclaims", "retransmissions", "duplicate_data"} {
				if n := modeltest.Counted(f, sim, name); n != 0 {
					t.Errorf("%s over a core of %v: %d %s, want none", sizes, core, n, name)
				}
			}
			asked, sent := modeltest.Counted(f, sim, "credit_probes"), sim.Totals().Sent
			if asked > sent/500 {
				t.Errorf("%s over %v: %d probes, %d packets; want at most 2 in 1000", sizes, core, asked, sent)
			}
		}
	}
}
