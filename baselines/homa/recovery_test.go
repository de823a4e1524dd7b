package homa_test

import (
	"strings"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// The rules of HomaModule that these tests check are in README, Loss; each loss
// costs about one timeout (of 2 ms, checked every 1 ms).

// What is lost is requested with RESEND, all gaps at once, and sent again at
// the highest priority; nothing else is.
func TestLostDataIsSentAgain(t *testing.T) {
	f := rack(t, 2)
	for _, lost := range [][]uint32{{3}, {68}, {0, 1, 5, 40}, {69}, {10, 100, 101, 299}} {
		again := 0
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 300 * mss}},
			Lose: loses(f, len(lost), func(e model.PacketEvent, hd homa.Header) bool {
				for _, n := range lost {
					if hd.Kind == "DATA" && hd.Offset == n*mss {
						return true
					}
				}
				return false
			}), OnPacket: func(e model.PacketEvent) {
				if hd, ok := leavesHost(f, e); ok && hd.Kind == "DATA" && e.At > units.Millisecond {
					for _, n := range lost {
						if hd.Offset == n*mss {
							again++
						}
					}
					if e.Packet.Priority != 7 {
						t.Errorf("lost %v: sent again at %d", lost, e.Packet.Priority)
					}
				}
			}})
		modeltest.AllDone(t, f, sim, units.Second)
		took := sim.Messages()[0].Latency()
		t.Logf("lost %v: %v", lost, took)
		if n := modeltest.Counted(f, sim, "retransmissions"); int(n) != len(lost) || again != len(lost) ||
			took > 4*units.Millisecond {
			t.Errorf("lost %v: %d sent again, %d in all, done after %v", lost, again, n, took)
		}
	}
}

// The next GRANT makes up for a lost one. After the last ones a RESEND does, which
// grants too, and which the sender answers with BUSY for what it has not sent.
func TestLostGrants(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		name        string
		limit       int
		from        uint32
		timeouts    bool
		busyAnswers int64
	}{
		{"one", 1, 100 * mss, false, 0}, {"the last", 1, 300 * mss, true, 1},
		{"all of a window", 69, 100 * mss, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 300 * mss}},
				Lose: loses(f, c.limit, func(_ model.PacketEvent, hd homa.Header) bool {
					return hd.Kind == "GRANT" && hd.Offset >= c.from
				})})
			modeltest.AllDone(t, f, sim, units.Second)
			took := sim.Messages()[0].Latency()
			if n := modeltest.Counted(f, sim, "busy_answers"); n != c.busyAnswers ||
				took > units.Millisecond != c.timeouts ||
				took > 4*units.Millisecond {
				t.Errorf("%d BUSY, done after %v; want %d, and timeouts: %v", n, took, c.busyAnswers, c.timeouts)
			}
			if n := modeltest.Counted(f, sim, "retransmissions") + modeltest.Counted(f, sim, "duplicate_data"); n != 0 {
				t.Errorf("%d packets sent again, want none", n)
			}
		})
	}
}

// A sender answers BUSY to a RESEND for bytes whose turn has not come; then its
// receiver keeps waiting and does not give up.
func TestBusySenderIsWaitedFor(t *testing.T) {
	f := rack(t, 3)
	from, to := newCore(t, f, 0, params(f, nil)), newCore(t, f, 1, params(f, nil))
	from.Send(0, transport.Message{Peer: 1, Size: 50 * mss})
	p, _, _ := from.next(0)
	p.Peer = 0
	to.Receive(0, &p)
	resends := 0
	for i := range 40 {
		now := units.Time(i) * units.Millisecond
		// There is always something shorter to be sent elsewhere.
		from.Send(now, transport.Message{ID: transport.MessageID(i), Peer: 2, Size: 8})
		if p, hd, ok := to.next(now); ok && hd.Kind == "RESEND" {
			resends++
			from.get(now, 1, hd, 0)
		} else if ok {
			t.Fatalf("%+v for %d", hd, p.Peer)
		}
		for p, hd, ok := from.next(now); ok && p.Peer != 2; p, hd, ok = from.next(now) {
			if hd.Kind != "BUSY" || !hd.FromSender {
				t.Fatalf("%+v", hd)
			}
			to.get(now, 0, hd, 0)
		}
		from.get(now, 2, homa.Header{Kind: "ACK", ID: transport.MessageID(i)}, 0)
	}
	if got, ok := to.Outstanding(0, 0); !ok || resends < 10 || got != 49*mss {
		t.Errorf("%d RESENDs; %v of the message outstanding, %v", resends, got, ok)
	}
}

// A message of which all is lost is unknown to its receiver: the sender sends
// NEED_ACK, and restarts it.
func TestMessageLostWhole(t *testing.T) {
	f := rack(t, 2)
	for _, size := range []units.Bytes{1, 8, 50 * mss, 69 * mss, 1_000_000} {
		packets := int(min(69, (size+mss-1)/mss))
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}},
			Lose: loses(f, packets, func(_ model.PacketEvent, hd homa.Header) bool { return hd.Kind == "DATA" })})
		modeltest.AllDone(t, f, sim, units.Second)
		took := sim.Messages()[0].Latency()
		if n := modeltest.Counted(f, sim, "messages_begun_again"); n != 1 || took > 6*units.Millisecond {
			t.Errorf("%v: begun again %d times, done after %v", size, n, took)
		}
		if got := sim.Totals().Payload; got != int64(size) {
			t.Errorf("%v: %d bytes arrived for the first time", size, got)
		}
	}
}

// A lost ACK is requested, and the message is not delivered again.
func TestLostAck(t *testing.T) {
	f := rack(t, 2)
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 8}, {Dst: 1, Size: 200_000}},
		Lose: loses(f, 3, func(_ model.PacketEvent, hd homa.Header) bool { return hd.Kind == "ACK" })})
	modeltest.AllDone(t, f, sim, units.Second)
	if c := sim.Totals(); c.Delivered != 2 || c.Payload != 200_008 || modeltest.Counted(f, sim, "acks_asked") != 3 ||
		modeltest.Counted(f, sim, "messages_begun_again") != 0 {
		t.Errorf("%+v", c.Counts)
	}
}

// A message that waits at its receiver for longer than a sender's patience does
// not fail: the receiver answers BUSY.
func TestMessageThatWaitsForGrantsDoesNotFail(t *testing.T) {
	f := rack(t, 3)
	p := params(f, func(p *homa.Params) { p.Overcommitment, p.LossTimeout, p.MaxResends = 1, 20*units.Microsecond, 2 })
	sim := newSim(t, model.Config{Fabric: f, Params: p,
		Sends: []model.Send{{Src: 0, Dst: 2, Size: 20_000_000}, {Src: 1, Dst: 2, Size: 21_000_000}}})
	modeltest.AllDone(t, f, sim, units.Second)
	if n := modeltest.Counted(f, sim, "acks_asked"); n == 0 || n > 20 {
		t.Errorf("%d NEED_ACKs in 3.5 ms", n)
	}
}

// A peer that no longer answers: the sender gives up after max_resends and reports
// so, and the receiver forgets.
func TestDeadPeer(t *testing.T) {
	f := rack(t, 3)
	for _, c := range []struct {
		name string
		size units.Bytes
		dead func(e model.PacketEvent) bool
	}{
		{"receiver, from the start, small message", 8, func(e model.PacketEvent) bool { return e.Dst == 1 }},
		{"receiver, from the start", 1_000_000, func(e model.PacketEvent) bool { return e.Dst == 1 }},
		{"receiver, in between", 1_000_000, func(e model.PacketEvent) bool { return e.Dst == 1 && e.At > 60_000 }},
		{"sender, in between", 1_000_000, func(e model.PacketEvent) bool { return e.Src == 0 && e.At > 60_000 }},
		{"receiver, speechless", 1_000_000, func(e model.PacketEvent) bool { return e.Src == 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := newSim(t, model.Config{
				Fabric: f, Sends: []model.Send{{Dst: 1, Size: c.size}, {Dst: 2, Size: 500_000}},
				Lose: func(e model.PacketEvent) bool {
					return e.Port == f.Uplink(e.Src) && e.Src+e.Dst == 1 && c.dead(e)
				},
			})
			if !sim.RunUntilDone(200 * units.Millisecond) {
				t.Fatalf("not done, want it failed: %s", modeltest.Undone(sim))
			}
			m := sim.Messages()
			if m[0].Failed == units.Never || !strings.Contains(m[0].Reason, "did not answer 5 attempts") ||
				m[1].Delivered > units.Millisecond {
				t.Errorf("got %+v, want the first failed after 5 attempts, the second delivered within 1 ms", m)
			}
			modeltest.Idle(t, f, sim)
		})
	}
}

// A message that its receiver gave up, because no packet of it arrived for too
// long, starts again when the sender is back.
func TestMessageGivenUpByItsReceiverBeginsAgain(t *testing.T) {
	f := rack(t, 2)
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 1_000_000}},
		Lose: func(e model.PacketEvent) bool {
			return e.Port == f.Uplink(e.Src) && e.Src == 0 && e.At > 30_000 && e.At < 15*units.Millisecond
		}})
	modeltest.AllDone(t, f, sim, units.Second)
	if a, b := modeltest.Counted(f, sim, "inbound_messages_abandoned"),
		modeltest.Counted(f, sim, "messages_begun_again"); a != 1 || b != 1 {
		t.Errorf("given up %d times, begun again %d times", a, b)
	}
}

// One check for lost messages may find several: their packets follow one another at the
// link's rate.
func TestWhatACheckFindsIsSentAtOnce(t *testing.T) {
	f := rack(t, 4)
	var asked []units.Time
	sends := []model.Send{{Dst: 1, Size: mss}, {Dst: 2, Size: mss}, {Dst: 3, Size: mss}}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends,
		Lose: loses(f, 3, func(_ model.PacketEvent, hd homa.Header) bool { return hd.Kind == "DATA" }),
		OnPacket: func(e model.PacketEvent) {
			if hd, ok := leavesHost(f, e); ok && hd.Kind == "NEED_ACK" {
				asked = append(asked, e.At)
			}
		}})
	modeltest.AllDone(t, f, sim, units.Second)
	// The first message was sent a check before the others.
	if len(asked) != 3 || asked[2]-asked[1] > 100*units.Nanosecond {
		t.Errorf("NEED_ACK left at %v, want the last two in a row", asked)
	}
}
