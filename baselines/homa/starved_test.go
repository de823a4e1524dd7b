package homa_test

import (
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo/units"
)

// A large message's packets wait in the switch while shorter messages fill the
// downlink at higher priorities, here for 13 ms:
//
//	h1-1 --- 20 MB ------------\
//	                            > leaf1 --> h1-3
//	h1-2 --- 80 times 2 MB ----/
//
// Nothing is lost, so nothing is requested. If a packet is lost meanwhile, it is
// requested once a full link no longer explains its absence.
func TestStarvedIsNotLost(t *testing.T) {
	f := rack(t, 3)
	sends := []model.Send{{Dst: 2, Size: 20_000_000}}
	for range 80 {
		sends = append(sends, model.Send{At: 100 * units.Microsecond, Src: 1, Dst: 2, Size: 2_000_000})
	}
	for lost := range 2 {
		p := params(f, nil)
		var longest, last units.Time // between packets of the large message
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends,
			Lose: loses(f, lost, func(e model.PacketEvent, hd homa.Header) bool {
				return hd.Kind == "DATA" && e.Src == 0 && e.At > 90*units.Microsecond
			}), OnPacket: func(e model.PacketEvent) {
				if e.Kind == model.Arrived && e.Src == 0 && e.Port == f.Downlink(2) {
					longest, last = max(longest, e.At-last), e.At
				}
			}})
		modeltest.AllDone(t, f, sim, units.Second)
		if longest < 4*units.Millisecond && lost == 0 {
			t.Fatalf("starved for %v only", longest)
		}
		if n := modeltest.Counted(f, sim, "retransmissions"); int(n) != lost {
			t.Errorf("%d lost: %d sent again, %d RESENDs; starved for %v", lost, n, modeltest.Counted(f, sim,
				"resends_asked"), longest)
		}
	}
}
