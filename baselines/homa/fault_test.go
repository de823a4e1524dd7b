package homa_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// subject is Homa, for the requirements on every protocol.
var subject = modeltest.Subject{
	Protocol: homa.Protocol, Seeds: 1000,
	Params: func(f *topo.Fabric, r *rand.Rand) any {
		return params(f, func(p *homa.Params) {
			p.MaxResends = 50
			p.RTTBytes = []units.Bytes{1446, 20_000, 100_000}[r.IntN(3)]
			p.Overcommitment = r.IntN(4)
			if r.IntN(2) == 0 {
				p.Cutoffs = []units.Bytes{3000, 30_000}
			}
			p.BoostTail = units.Bytes(r.IntN(2) * 10_000)
		})
	},
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done both ends have forgotten it
// (README, Loss).
func TestExactlyOnceAndNothingLeftUnderFaults(t *testing.T) {
	modeltest.ExactlyOnceUnderFaults(t, subject)
}

// Under a realistic load with rare losses control traffic stays in proportion:
// recovery must not feed on itself.
func TestRecoveryCausesNoControlStorm(t *testing.T) {
	s := modeltest.Small
	s.HostsPerLeaf = 3
	f := modeltest.Fabric(t, s)
	for seed := range uint64(3) {
		sim := newSim(t, model.Config{
			Fabric: f, Seed: seed, To: 3 * units.Millisecond,
			Params:  params(f, func(p *homa.Params) { p.Workload = "wka" }),
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wka", Load: 0.5}},
			Faults:  fault.Config{Drop: 0.001, Reorder: 0.01},
		})
		if !sim.RunUntilDone(units.Second) {
			t.Fatalf("seed %d: not done: %s", seed, modeltest.Undone(sim))
		}
		modeltest.Idle(t, f, sim)
		// A packet of data and an acknowledgement for each message, and for each
		// further packet at most a grant; retransmissions are a few in a thousand.
		packets := int64(0)
		for _, m := range sim.Messages() {
			packets += 2 * int64((m.Size+mss-1)/mss)
		}
		if c := sim.Totals().Counts; c.Sent > packets*11/10 {
			t.Errorf("seed %d: %d packets sent, %d needed", seed, c.Sent, packets)
		}
	}
}

// Whichever end is dead, the message fails, and neither end keeps any state of
// it.
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }
