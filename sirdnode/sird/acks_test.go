package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// round is that of rack.
const round = 8 * units.Microsecond

// README, Acknowledgements: small messages that arrive within a round have one
// ACK, large ones have theirs at once; a reply acknowledges its request. Nothing is
// announced again for it.
func TestAcknowledgementsRideAndShare(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		name  string
		delay float64
		sends []model.Send
		acks  int // ACK packets
		rides int // packets that an acknowledgement rides on
	}{
		{"one small message", 1, []model.Send{{Dst: 1, Size: 8}}, 1, 0},
		{"ten at once", 1, repeat(10, 0, model.Send{Dst: 1, Size: 8}), 1, 0},
		{"ten a round apart", 1, repeat(10, round+1, model.Send{Dst: 1, Size: 8}), 10, 0},
		// What one packet tells of would not reach back to the first.
		{"forty at once", 1, repeat(40, 0, model.Send{Dst: 1, Size: 8}), 3, 0},
		{"ten at once, without delay", 0, repeat(10, 0, model.Send{Dst: 1, Size: 8}), 10, 0},
		{"ten large ones", 1, repeat(10, 0, model.Send{Dst: 1, Size: 200_000}), 10, 0},
		{"a reply", 1, []model.Send{{Dst: 1, Size: 8, Reply: 4}}, 1, 1},
		{"a reply that just leaves room", 1, []model.Send{{Dst: 1, Size: 8, Reply: mss - 8}}, 1, 1},
		{"a reply without room", 1, []model.Send{{Dst: 1, Size: 8, Reply: mss - 7}}, 2, 0},
		{"a reply whose last packet has room", 1, []model.Send{{Dst: 1, Size: 8, Reply: 2*mss - 8}}, 1, 1},
		{"a reply that asks for credit", 1, []model.Send{{Dst: 1, Size: 8, Reply: 200_000}}, 1, 1},
		{"credit for the other direction", 1, []model.Send{{Src: 1, Dst: 0, Size: 1_000_000},
			{At: 20_000, Src: 1, Dst: 0, Size: 8}}, 1, 1},
		{"a reply, without delay", 0, []model.Send{{Dst: 1, Size: 8, Reply: 4}}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			acks, rides := 0, 0
			sim := newSim(t, model.Config{Fabric: f, Bytes: true, Sends: c.sends,
				Params: params(f, func(p *sird.Params) { p.AckDelay = c.delay }),
				OnPacket: func(e model.PacketEvent) {
					switch h, ok := leavesHost(f, e); {
					case ok && h.Kind == "ACK":
						acks++
					case ok && h.Rides:
						rides++
					}
				}})
			modeltest.AllDone(t, f, sim, units.Millisecond)
			if acks != c.acks || rides != c.rides {
				t.Errorf("%d ACKs, %d rides; want %d, %d", acks, rides, c.acks, c.rides)
			}
			if n := modeltest.Counted(f, sim, "messages_announced_again"); n != 0 {
				t.Errorf("%d messages announced again, want none", n)
			}
		})
	}
}

// repeat is a message n times, some time apart.
func repeat(n int, apart units.Time, m model.Send) (list []model.Send) {
	for range n {
		list = append(list, m)
		m.At += apart
	}
	return list
}

// README, Acknowledgements: whatever order messages arrive in, each is told of.
func TestEveryMessageIsAcknowledgedInAnyOrder(t *testing.T) {
	f := rack(t, 2)
	for name, ids := range map[string][]transport.MessageID{
		"the lowest last":              {1, 2, 3, 0},
		"far apart":                    {0, 40, 41, 100, 99, 1},
		"as far as one packet reaches": {0, 32, 31, 64},
		"one further":                  {0, 33, 66, 34, 33 - 32},
		"around the wrap":              {1<<32 - 2, 1, 1<<32 - 1, 0, 1<<32 - 33},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCore(t, f, 1, params(f, nil))
			told := map[transport.MessageID]bool{}
			for now := units.Time(0); now < 3*round; now += 100 {
				if k := int(now / 100); k < len(ids) {
					h := sird.Header{Kind: "DATA", ID: ids[k], Length: 8, Prefix: 1, AboveFloor: 65535}
					s.get(now, 0, h, 8, false)
				}
				for h, _, ok := s.next(now); ok; h, _, ok = s.next(now) {
					for _, id := range ids {
						told[id] = told[id] || h.Tells(id)
					}
				}
			}
			for _, id := range ids {
				if !told[id] {
					t.Errorf("%d of %v is not acknowledged", id, ids)
				}
			}
		})
	}
}

// README, Acknowledgements: the next one makes up for one that was lost.
func TestNextAcknowledgementMakesUpForALostOne(t *testing.T) {
	f := rack(t, 2)
	sim := newSim(t, model.Config{Fabric: f, Sends: repeat(5, 2*round, model.Send{Dst: 1, Size: 8}),
		Lose: loses(f, 1, func(_ model.PacketEvent, h sird.Header) bool { return h.Kind == "ACK" })})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	if sim.Totals().PortStats.Lost != 1 || modeltest.Counted(f, sim, "messages_announced_again") != 0 {
		t.Errorf("%d packets lost, %d messages announced again; want 1 and none", sim.Totals().PortStats.Lost,
			modeltest.Counted(f, sim, "messages_announced_again"))
	}
	if m := sim.Messages()[0]; m.Acked < 2*round || m.Acked > 4*round {
		t.Errorf("acknowledged at %v, want it by the second", m.Acked)
	}
}

// README, Acknowledgements: a message whose acknowledgements are lost pins a bounded number of ids, at
// either end, however many messages follow. (Before, one that was lost pinned 20,000 in 20 ms.)
func TestLostAcknowledgementsPinFewIDs(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		name  string
		every units.Time // that a message follows
		lost  int        // packets that acknowledge the message
		most  int        // ids
	}{
		{"one, a message each us", units.Microsecond, 1, 40},
		{"all that tell of it at first", units.Microsecond, 3, 300},
		{"and nine answers", units.Microsecond, 12, 1300},
		{"one, ten messages each us", 100, 1, 130},
		{"all that tell of it at first, ten each us", 100, 2, 1200},
		{"and two answers, ten each us", 100, 4, 2500},
	} {
		t.Run(c.name, func(t *testing.T) {
			pinned, remembered := 0, 0
			all := traffic.Stream{Name: "all", Pattern: traffic.PatternFixed, From: []string{"h1-1"},
				To: []string{"h1-2"}, Size: 8, Interval: c.every}
			sim := newSim(t, model.Config{Fabric: f, To: 8 * units.Millisecond, Streams: []traffic.Stream{all},
				Lose: loses(f, c.lost, func(_ model.PacketEvent, h sird.Header) bool { return h.Tells(100) })})
			for sim.Now() < 8*units.Millisecond {
				sim.Run(sim.Now() + 2*units.Microsecond)
				pinned = max(pinned, at(sim, 0).Pinned(1))
				if sim.Now() > 10*units.Microsecond {
					remembered = max(remembered, at(sim, 1).Remembered(0))
				}
			}
			modeltest.AllDone(t, f, sim, 10*units.Millisecond)
			if lost := sim.Totals().PortStats.Lost; lost != int64(c.lost) {
				t.Errorf("%d packets lost, want %d", lost, c.lost)
			}
			t.Logf("%d ids pinned at the sender, %d at the receiver", pinned, remembered)
			if max(pinned, remembered) > c.most {
				t.Errorf("%d and %d ids pinned, want at most %d", pinned, remembered, c.most)
			}
		})
	}
}
