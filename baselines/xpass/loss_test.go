package xpass_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// subject is ExpressPass, for the requirements on every protocol.
var subject = modeltest.Subject{
	Protocol: xpass.Protocol,
	Params: func(f *topo.Fabric, r *rand.Rand) any {
		return params(f, func(p *xpass.Params) {
			p.Connections = []int{1, 3, 40}[r.IntN(3)]
			p.EarlyStop = []float64{0, 1, 1}[r.IntN(3)]
		})
	},
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done nothing is kept.
func TestExactlyOnceUnderFaults(t *testing.T) { modeltest.ExactlyOnceUnderFaults(t, subject) }

// Each kind of packet may be lost, once or several times in a row, first or
// last of its kind: the message arrives all the same, and soon.
func TestEachKindOfPacketMayBeLost(t *testing.T) {
	f := rack(t, 2)
	for _, kind := range []string{"CREDIT_REQUEST", "CREDIT", "DATA", "CREDIT_STOP", "ACK"} {
		for _, size := range []units.Bytes{8, 5 * mss, 100 * mss} {
			for _, skip := range []int{0, 1, 4} {
				for _, count := range []int{1, 3} {
					passed, left := 0, count
					sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}}, Bytes: true,
						Lose: func(e model.PacketEvent) bool {
							if left == 0 || e.Port != f.Uplink(e.Src) || xpass.Parse(e.Packet.Header()).Kind != kind {
								return false
							}
							if passed++; passed <= skip {
								return false
							}
							left--
							return true
						}})
					limit := units.Millisecond
					modeltest.AllDone(t, f, sim, limit)
					if t.Failed() {
						t.Fatalf("%s, %v, %d lost after %d", kind, size, count, skip)
					}
				}
			}
		}
	}
}

// A lost data packet is noticed when the next one arrives: the sender gets a NACK
// for it within a round trip, not after a timeout.
func TestGapIsRequestedAtOnce(t *testing.T) {
	f := rack(t, 2)
	lost, lostAt, againAt := false, units.Time(0), units.Time(0)
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 400 * mss}}, Bytes: true,
		OnPacket: func(e model.PacketEvent) {
			if h := xpass.Parse(e.Packet.Header()); h.Kind == "DATA" && h.Offset == 100*mss &&
				e.Kind == model.Transmitted &&
				e.Port == f.Uplink(0) && lost {
				againAt = e.At
			}
		},
		Lose: func(e model.PacketEvent) bool {
			h := xpass.Parse(e.Packet.Header())
			if lost || h.Kind != "DATA" || h.Offset != 100*mss {
				return false
			}
			lost, lostAt = true, e.At
			return true
		}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	if rtt := 5400 * units.Nanosecond; againAt-lostAt > 2*rtt || againAt == 0 {
		t.Errorf("sent again %v after it was lost", againAt-lostAt)
	}
	if n := modeltest.Counted(f, sim, "retransmissions"); n != 1 {
		t.Errorf("%d packets sent again", n)
	}
}

// A receiver that never answers makes the message fail, with the reason; a
// sender that sends no more gets no credits for longer than the stop timeout.
func TestGivingUp(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *xpass.Params) { p.MaxAttempts = 7 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 5000}},
		Lose: func(e model.PacketEvent) bool { return e.Src == 1 }})
	if !sim.RunUntilDone(10 * units.Millisecond) {
		t.Fatal("still trying")
	}
	m := sim.Messages()[0]
	if m.Failed == units.Never || m.Failed < 800*units.Microsecond || m.Failed > 810*units.Microsecond ||
		m.Reason != "h1-2 did not answer 7 attempts, 100us apart" {
		t.Errorf("%+v", m)
	}
	modeltest.Idle(t, f, sim)

	gone := units.Time(0)
	sim = newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 10_000_000}},
		Lose: func(e model.PacketEvent) bool { return e.Src == 0 && e.At > 100*units.Microsecond },
		OnPacket: func(e model.PacketEvent) {
			if e.Src == 1 && e.Packet.Credit {
				gone = e.At
			}
		}})
	sim.Run(20 * units.Millisecond)
	if gone < 2*units.Millisecond || gone > 2200*units.Microsecond ||
		modeltest.Counted(f, sim, "credits_stopped_by_silence") != 1 {
		t.Errorf("credits until %v", gone)
	}
}

// Whichever end is dead, the message fails, and neither end keeps any state of
// it.
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }
