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

// Under a realistic load with rare losses, control traffic stays in proportion:
// recovery must not feed on itself.
func TestRecoveryCausesNoControlStorm(t *testing.T) {
	s := modeltest.Small
	s.HostsPerLeaf = 3
	f := modeltest.Fabric(t, s)
	for seed := range uint64(5) {
		sim := newSim(t, model.Config{
			Fabric: f, Seed: seed, To: 3 * units.Millisecond,
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wka", Load: 0.5}},
			Faults:  fault.Config{Drop: 0.001, Reorder: 0.01},
		})
		if !sim.RunUntilDone(units.Second) {
			t.Fatalf("seed %d: not done: %s", seed, modeltest.Undone(sim))
		}
		sim.Run(sim.Now() + 100*units.Millisecond)
		c := sim.Totals().Counts
		// A data packet and an acknowledgement for each message, and for each
		// further packet one of credit; retransmissions are a few in a thousand.
		packets := int64(0)
		for _, m := range sim.Messages() {
			packets += 2 * int64((m.Size+1441)/1442)
		}
		if c.Sent > packets*11/10 {
			t.Errorf("seed %d: %d packets sent, %d needed", seed, c.Sent, packets)
		}
		for _, h := range f.Hosts {
			if leak := sim.Host(h).Transport().(*sird.SIRD).Leaks(); leak != "" {
				t.Errorf("seed %d: %s: %s", seed, f.HostName(h), leak)
			}
		}
	}
}
