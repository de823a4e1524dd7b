package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Announcing again: messages that wait for credit are known to the receiver, and are not
// announced again. A sender that hears nothing asks, less and less often. (Before, 10,000 of 50 senders
// announced themselves at once, 4 ms after they had been sent.)
func TestWaitingMessagesAreNotAnnouncedAgain(t *testing.T) {
	f := rack(t, 51)
	var sends []model.Send
	for src := range topo.HostID(50) {
		for i := range 200 {
			sends = append(sends, model.Send{At: units.Time(i), Src: 1 + src, Size: 500_000})
		}
	}
	requests, busy, window := 0, 0, map[units.Time]int{}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, OnPacket: func(e model.PacketEvent) {
		switch h, ok := leavesHost(f, e); {
		case !ok || e.At < 20*units.Microsecond:
		case h.Kind == "DATA" && h.Request:
			requests++
			window[e.At/(10*units.Microsecond)]++
		case h.Kind == "BUSY":
			busy++
		}
	}})
	sim.Run(15 * units.Millisecond)
	most := 0
	for _, n := range window {
		most = max(most, n)
	}
	if requests > 4*50 || most > 8 || busy > 500 {
		t.Errorf("%d requests later than 20 us, %d in 10 us; %d BUSYs; want four of a sender at most, staggered",
			requests, most, busy)
	}
	if most := sim.Queue(f.Downlink(0).ID).Max; most > 1_100_000 { // the first requests, of 50 senders at once
		t.Errorf("%v queued at the receiver", most)
	}
	if n := modeltest.Counted(f, sim, "messages_announced_again"); n != 0 {
		t.Errorf("%d messages announced again, want none", n)
	}
}

// A cut of the link loses all requests of a sender: they are announced again one after the other,
// as soon as the one before is answered, and all arrive.
func TestLostRequestsAreMadeUpFor(t *testing.T) {
	f := rack(t, 3)
	var sends []model.Send
	for range 20 {
		sends = append(sends, model.Send{At: 10_000, Src: 1, Size: 200_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, Lose: func(e model.PacketEvent) bool {
		return e.Src == 1 && e.At < 100*units.Microsecond
	}})
	modeltest.AllDone(t, f, sim, 3*units.Millisecond)
}

// README, Announcing again: what is lost whole is missed as soon as ever, though the receiver knew all before
// it. (Before, the sender had nothing to look after for 4T, and looked after nothing for as long.)
func TestLostRequestIsMissedWhateverWasKnownBefore(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		name string
		size units.Bytes
		kind string // of the packet that is lost
	}{{"a request", 200_000, "DATA"}, {"a small message", 8, "DATA"}, {"an acknowledgement", 8, "ACK"}} {
		t.Run(c.name, func(t *testing.T) {
			sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 50_000_000},
				{At: units.Millisecond, Dst: 1, Size: c.size}},
				Lose: loses(f, 1, func(_ model.PacketEvent, h sird.Header) bool {
					return h.Kind == c.kind && h.ID == 1
				})})
			modeltest.AllDone(t, f, sim, units.Second)
			if m := sim.Messages()[1]; m.Acked-m.Offered > 50*round {
				t.Errorf("acknowledged %v after it was offered, want less than 50 rounds", m.Acked-m.Offered)
			}
		})
	}
}

// README, Announcing again: a sender misses a receiver that restarts, or has forgotten its message, 64 rounds after it
// heard of it: of one that gave credit when it died, of one that it waits for soon after it began to wait.
func TestReceiverThatStopsGivingCreditIsAsked(t *testing.T) {
	f := rack(t, 3)
	for name, c := range map[string]struct {
		first       units.Bytes // what comes before, of another sender
		from, until units.Time
	}{
		"under way": {0, 62 * round, 100 * round},
		"waiting":   {50_000_000, 40 * round, 100 * round},
	} {
		t.Run(name, func(t *testing.T) {
			const died = 200 * units.Microsecond
			var sends []model.Send
			if c.first > 0 {
				sends = append(sends, model.Send{Src: 2, Size: c.first})
			}
			sends = append(sends, model.Send{At: 100, Src: 1, Size: 60_000_000})
			asked := units.Never
			lost := dead(0, died, units.Never)
			sim := newSim(t, model.Config{Fabric: f, Sends: sends, Lose: func(e model.PacketEvent) bool {
				if h := sird.Parse(e.Packet.Header()); e.Src == 1 && e.At > died && h.Request && h.Kind == "DATA" {
					asked = min(asked, e.At)
				}
				return lost(e)
			}})
			sim.Run(15 * units.Millisecond)
			if after := asked - died; after < c.from || after > c.until {
				t.Errorf("asked %v after the receiver died, want %v to %v", after, c.from, c.until)
			}
		})
	}
}
