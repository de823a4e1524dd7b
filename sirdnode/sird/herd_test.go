package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Sender: messages that wait for credit are known to the receiver, and are not
// announced again. A sender that hears nothing for long asks once. (Before, 10,000 of 50 senders
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
	if requests > 50 || most > 8 || busy > 400 {
		t.Errorf("%d requests later than 20 us, %d in 10 us; %d BUSYs; want one of a sender at most, staggered",
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
