package dcpim_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Loss: timeouts cover lost RTS and tokens. The loss of any packet, or
// of the first few of its type, costs an epoch or two, and no bytes.
func TestEveryLossIsRecovered(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	epoch := at(newSim(t, model.Config{Fabric: f}), 0).Epoch()
	for _, kind := range []string{"RTS", "RTSACK", "REQUEST", "GRANT", "ACCEPT", "TOKEN", "DATA", "ACK"} {
		for _, size := range []units.Bytes{1, 20 * mss, 100_000, 1_000_000} {
			for _, limit := range []int{1, 3} {
				var alone units.Time
				for _, loss := range []bool{false, true} {
					lost := 0
					sim := newSim(t, model.Config{Fabric: f, Bytes: true, Sends: []model.Send{{Dst: 3, Size: size}},
						Lose: loses(f, limit, func(_ model.PacketEvent, h dcpim.Header) bool {
							if loss && h.Kind == kind {
								lost++
								return true
							}
							return false
						})})
					modeltest.AllDone(t, f, sim, 100*units.Millisecond)
					m := sim.Messages()[0]
					if !loss {
						alone = m.Acked
						continue
					}
					// An RTS lost three times is sent again after 1, 2 and 4
					// epochs, and so on for the others.
					if m.Acked > alone+9*epoch || sim.Totals().Payload != int64(size) {
						t.Errorf("%d %s of %v lost: acknowledged at %v instead of %v, %d bytes", lost, kind, size,
							m.Acked, alone, sim.Totals().Payload)
					}
				}
			}
		}
	}
}

// subject is dcPIM, for the requirements on every protocol.
var subject = modeltest.Subject{
	Protocol: dcpim.Protocol,
	Params: func(f *topo.Fabric, r *rand.Rand) any {
		return params(f, func(p *dcpim.Params) {
			p.MaxRetries = 30
			p.Rounds, p.Channels, p.Alpha = 1+r.IntN(5), 1+r.IntN(8), []float64{1, 1, 2}[r.IntN(3)]
			p.TokenInitial = []float64{0, 1, 1, 4}[r.IntN(4)]
		})
	},
	Check: func(p transport.Transport) error {
		if broken := p.(*dcpim.DCPIM).Broken(); broken != "" {
			return errors.New(broken)
		}
		return nil
	},
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done nothing is left at either
// half of any host.
func TestExactlyOnceAndNothingLeftUnderFaults(t *testing.T) {
	modeltest.ExactlyOnceUnderFaults(t, subject)
}

// A message fails after max_retries announcements without an answer (README,
// Loss). Whichever direction is dead, and whenever it dies, both ends forget
// the message.
func TestDeadPeerFailsTheMessage(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	for _, size := range []units.Bytes{1, 30_000, 2_000_000} {
		for _, dead := range []topo.HostID{0, 3} { // whose packets are lost
			for _, since := range []units.Time{0, 5 * units.Microsecond, 80 * units.Microsecond} {
				sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 3, Size: size}},
					Lose: func(e model.PacketEvent) bool { return e.Src == dead && e.At >= since }})
				if !sim.RunUntilDone(100 * units.Millisecond) {
					t.Errorf("%v, host %d dead: not done: %s", size, dead, modeltest.Undone(sim))
				}
				m := sim.Messages()[0]
				if m.Acked == units.Never && (m.Failed == units.Never ||
					m.Reason != "h2-2 did not answer 10 announcements") {
					t.Errorf("%v, host %d dead since %v: %+v", size, dead, since, m)
				}
				if since == 0 && m.Failed == units.Never {
					t.Errorf("%v, host %d dead from the start: %+v", size, dead, m)
				}
				modeltest.Idle(t, f, sim)
			}
		}
	}
}

// A receiver that requests a message that its sender has given up learns that
// it is gone, and packets of it that are still under way do not begin it anew.
func TestGoneMessageIsForgotten(t *testing.T) {
	c, begin := matchedCore(t, 4, 200)
	c.all(begin)
	c.get(begin, 1, dcpim.Header{Kind: "GONE"}, 0)
	c.get(begin, 1, dcpim.Header{Kind: "DATA", Length: 200 * mss}, mss)
	for now := begin; now < begin+3*c.Epoch(); now += c.Round() / 2 {
		for _, p := range c.all(now) {
			if p.Kind != "ACK" {
				t.Errorf("%+v for a message that is gone", p)
			}
		}
	}
	if c.sink.Bytes != 0 || c.Leaks() != "" {
		t.Errorf("%d bytes; %s", c.sink.Bytes, c.Leaks())
	}
	// The sender's half: of what it has settled, and of nothing else.
	c = newCore(t, rack(t, 2))
	c.Send(0, transport.Message{Peer: 1, Size: 1})
	c.all(0)
	c.get(10, 1, dcpim.Header{Kind: "ACK"}, 0)
	c.get(10, 1, dcpim.Header{Kind: "REQUEST", Channels: 1}, 0)
	c.get(10, 1, dcpim.Header{Kind: "TOKEN"}, 0)
	c.get(10, 1, dcpim.Header{Kind: "TOKEN", ID: 1}, 0)
	if got := c.all(10); len(got) != 2 || got[0].Kind != "GONE" || got[1].Kind != "GONE" || c.sink.Acks != 1 {
		t.Errorf("%+v", got)
	}
}

// Messages that wait for the uplink, be they thousands, cost no time while they do; from
// their data on they are announced until they are answered.
func TestMessagesThatWaitHaveNoTimer(t *testing.T) {
	c := newCore(t, rack(t, 2))
	const messages = 1000
	for id := range transport.MessageID(messages) {
		c.Send(0, transport.Message{Peer: 1, ID: id, Size: 1})
	}
	var p transport.Packet
	for range messages { // the announcements alone
		c.Next(0, &p)
	}
	now := 10 * c.Epoch()
	if c.Next(now, &p); c.Timers() != 1 {
		t.Errorf("%d timers, want that of the one message whose data is sent", c.Timers())
	}
	if got := c.all(now); len(got) != messages-1 || c.Timers() != messages || c.Broken() != "" {
		t.Errorf("%d packets, %d timers, %s", len(got), c.Timers(), c.Broken())
	}
	if got := c.all(now + c.Epoch()); len(got) != messages || got[0].Kind != "RTS" {
		t.Errorf("%d packets after an epoch without an answer, want an RTS of each", len(got))
	}
}

// Ids below the sender's floor are settled: they are not remembered, and their
// late packets are acknowledged.
func TestLateDuplicatesAreAcknowledged(t *testing.T) {
	c := newCore(t, rack(t, 2))
	for id := range transport.MessageID(1000) {
		h := dcpim.Header{Kind: "DATA", ID: id, Length: 10, Unscheduled: true}
		c.get(units.Time(id), 1, h, 10)
		c.get(units.Time(id), 1, h, 10)
	}
	c.all(1000)
	if c.sink.Deliveries != 1000 || c.sink.Bytes != 10_000 || c.Leaks() != "" {
		t.Errorf("%d delivered, %d bytes; %s", c.sink.Deliveries, c.sink.Bytes, c.Leaks())
	}
	if n := c.Remembered(1); n > 1 {
		t.Errorf("%d ids remembered: each packet said that all before it are settled", n)
	}
	c.get(2000, 1, dcpim.Header{Kind: "RTS", ID: 3, Length: 10}, 0)
	if got := c.all(2000); len(got) != 1 || got[0].Kind != "ACK" || got[0].ID != 3 {
		t.Errorf("%+v, want an ACK", got)
	}
}
