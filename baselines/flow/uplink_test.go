package flow_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A sent is a transmission: when its window allowed it is up to the test, when the
// NIC took it is here.
type sent struct{ at, acked units.Time }

// delays sends segments at given times, acknowledges each 8 us later or when it says,
// and returns the delays that the controller is told. at is called between.
func delays(t *testing.T, c *fixed, wait bool, list []sent, before func(i int)) (got []units.Time) {
	t.Helper()
	x := newCore(t, rack(t, 2), config(0, func(cfg *flow.Config) {
		cfg.UplinkWait = wait
		cfg.Controller = func(transport.HostID) flow.Controller { return c }
	}))
	x.Send(0, transport.Message{Peer: 1, Size: 100 * full})
	type due struct {
		at     units.Time
		offset uint32
		stamp  uint32
	}
	var acks []due
	flush := func(now units.Time) {
		for len(acks) > 0 && acks[0].at <= now {
			a := acks[0]
			acks = acks[1:]
			x.get(a.at, flow.Header{Kind: "ACK", Offset: a.offset, Stamp: a.stamp}, 0, false)
		}
	}
	for i, s := range list {
		flush(s.at)
		if before != nil {
			before(i)
		}
		h, ok := x.next(s.at)
		if !ok {
			t.Fatalf("transmission %d: nothing to send at %v", i, s.at)
		}
		acks = append(acks, due{s.acked, h.Offset + full, h.Stamp})
	}
	flush(units.Second)
	for _, a := range c.acks {
		got = append(got, a.Delay)
	}
	return got
}

// README, Uplink queue: a released round trip begins when the window lets a segment
// out. Three are allowed at once, the fourth when the first is acknowledged.
func TestTheWaitForTheNICCountsAsDelay(t *testing.T) {
	list := []sent{{0, 8 * us}, {1 * us, 9 * us}, {5 * us, 13 * us}, {11 * us, 19 * us}}
	for wait, want := range map[bool][]units.Time{
		true:  {8 * us, 8*us + 1*us, 8*us + 5*us, 8*us + 3*us},
		false: {8 * us, 8 * us, 8 * us, 8 * us},
	} {
		c := &fixed{window: 3, keep: true}
		if got := delays(t, c, wait, list, nil); !slices.Equal(got, want) {
			t.Errorf("wait %v: got %v, want %v", wait, got, want)
		}
	}
}

// A segment that a smaller window takes back waits from when it is allowed again.
func TestAWindowThatShrinksTakesAllowancesBack(t *testing.T) {
	c := &fixed{window: 4, keep: true}
	list := []sent{{0, 8 * us}, {2 * us, 10 * us}, {9 * us, 17 * us}, {12 * us, 20 * us}}
	got := delays(t, c, true, list, func(i int) {
		switch i {
		case 1:
			c.window = 2 // with one in flight only the next is allowed any longer
		case 3:
			c.window = 4
		}
	})
	// The third and the fourth are allowed by the acknowledgements at 8 and 10 us.
	want := []units.Time{8 * us, 8*us + 2*us, 8*us + 1*us, 8*us + 2*us}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// README, Uplink queue: with UplinkFIFO the segments that a window let out first leave
// first, whichever connection they are of; without, connections take turns.
func TestUplinkOrder(t *testing.T) {
	for fifo, want := range map[bool][]transport.MessageID{
		// Three of message 0 are allowed at 0, three of message 1 at 1 us, and one more of
		// each when one is acknowledged, of message 1 before 0.
		true:  {0, 0, 0, 1, 1, 1, 1, 0},
		false: {0, 0, 1, 0, 1, 1, 1, 0},
	} {
		x := newCore(t, rack(t, 2), config(3, func(cfg *flow.Config) { cfg.UplinkFIFO = fifo }))
		x.Send(0, transport.Message{ID: 0, Peer: 1, Size: 100 * full})
		var got []transport.MessageID
		stamps := map[transport.MessageID]uint32{}
		next := func(now units.Time) {
			h, ok := x.next(now)
			if !ok {
				t.Fatalf("fifo %v: nothing to send at %v", fifo, now)
			}
			if got = append(got, h.ID); h.Offset == 0 {
				stamps[h.ID] = h.Stamp
			}
		}
		next(0)
		x.Send(1*us, transport.Message{ID: 1, Peer: 1, Size: 100 * full})
		for i := range units.Time(5) {
			next(2*us + i*us)
		}
		x.get(8*us, flow.Header{Kind: "ACK", Connection: 1, ID: 1, Offset: full, Stamp: stamps[1]}, 0, false)
		x.get(9*us, flow.Header{Kind: "ACK", ID: 0, Offset: full, Stamp: stamps[0]}, 0, false)
		next(10 * us)
		next(11 * us)
		if !slices.Equal(got, want) {
			t.Errorf("fifo %v: messages %v, want %v", fifo, got, want)
		}
	}
}

// A segment that pacing holds back is not one that waits for the NIC.
func TestPacingIsNoWait(t *testing.T) {
	c := &fixed{window: 4, pacing: 20 * us, keep: true}
	got := delays(t, c, true, []sent{{0, 8 * us}, {20 * us, 28 * us}, {43 * us, 51 * us}}, nil)
	if want := []units.Time{8 * us, 8 * us, 8*us + 3*us}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
