package flow_test

import (
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/topo/units"
)

// segmentOf is a DATA header of message 0, of 20 full segments.
func segmentOf(n int) flow.Header {
	return flow.Header{Kind: "DATA", Offset: uint32(n * full), Length: 20 * full, Stamp: uint32(n)}
}

// README, Acknowledgements: with one segment per acknowledgement and a delay of
// 6 us, every full segment is acknowledged at once, and a short one that does
// not end its message after 6 us. With two, every second full segment.
func TestDelayedAcknowledgements(t *testing.T) {
	for _, per := range []int{1, 2, 3} {
		c := newCore(t, rack(t, 2), config(1, func(c *flow.Config) { c.DelayedAck, c.SegmentsPerAck = 6*us, per }))
		got := 0
		for n := range 12 {
			now := units.Time(n) * 123
			c.get(now, segmentOf(n), full, false)
			h, ok := c.next(now)
			if ok != ((n+1)%per == 0) {
				t.Fatalf("%d segments per acknowledgement: %v after segment %d", per, ok, n)
			}
			if ok {
				got++
				if h.Offset != uint32((n+1)*full) || h.Stamp != uint32(n) || len(h.Ranges) != 0 {
					t.Errorf("%+v", h)
				}
			}
		}
		if got != 12/per {
			t.Errorf("%d segments per acknowledgement: %d for 12", per, got)
		}
	}
	c := newCore(t, rack(t, 2), config(1, func(c *flow.Config) { c.DelayedAck, c.SegmentsPerAck = 6*us, 2 }))
	c.get(1000, segmentOf(0), full, false)
	if _, ok := c.next(1000); ok || c.Wake() != 7000 {
		t.Errorf("wakes at %v, want 7us", c.Wake())
	}
	if _, ok := c.next(6999); ok {
		t.Error("too early")
	}
	if h, ok := c.next(7000); !ok || h.Offset != full || h.AckDelay != 6000 {
		t.Errorf("%+v, %v", h, ok)
	}
}

// RFC 5681, section 4.2: out of order, into a gap and at the end of a message
// there is no delay; nor for duplicates, whose acknowledgement was lost.
func TestNothingIsDelayedWhenTheSenderWaitsForIt(t *testing.T) {
	c := newCore(t, rack(t, 2), config(1, func(c *flow.Config) { c.DelayedAck, c.SegmentsPerAck = 6*us, 100 }))
	expect := func(n int, payload int, want flow.Header) {
		t.Helper()
		c.get(0, segmentOf(n), payload, false)
		h, ok := c.next(0)
		if !ok || h.Offset != want.Offset || len(h.Ranges) != len(want.Ranges) {
			t.Fatalf("after segment %d: %+v, %v; want %+v", n, h, ok, want)
		}
		for i, r := range want.Ranges {
			if h.Ranges[i] != [2]uint32{r[0] * full, r[1] * full} {
				t.Errorf("after segment %d: %+v, want %+v", n, h, want)
			}
		}
	}
	expect(1, full, flow.Header{Ranges: [][2]uint32{{1, 2}, {1, 2}}})
	expect(5, full, flow.Header{Ranges: [][2]uint32{{5, 6}, {1, 2}, {5, 6}}})
	expect(6, full, flow.Header{Ranges: [][2]uint32{{6, 7}, {1, 2}, {5, 7}}})
	expect(9, full, flow.Header{Ranges: [][2]uint32{{9, 10}, {1, 2}, {5, 7}}})
	expect(0, full, flow.Header{Offset: 2 * full, Ranges: [][2]uint32{{5, 7}, {9, 10}}})
	expect(0, full, flow.Header{Offset: 2 * full, Ranges: [][2]uint32{{5, 7}, {9, 10}}})
	for n := range 19 {
		c.get(0, segmentOf(n), full, false)
		for _, ok := c.next(0); ok; _, ok = c.next(0) {
		}
	}
	expect(19, full, flow.Header{Offset: 20 * full})
	expect(3, full, flow.Header{Offset: 20 * full})
	if c.sink.Times[0] != 1 {
		t.Errorf("delivered %d times", c.sink.Times[0])
	}
}

// RFC 8257, section 3.2: when marking begins or ends, a pending acknowledgement
// is sent at once with the old state, so that none mixes the two.
func TestEchoIsExactDespiteDelay(t *testing.T) {
	c := newCore(t, rack(t, 2), config(1, func(c *flow.Config) { c.DelayedAck, c.SegmentsPerAck = 6*us, 3 }))
	covered, marked := uint32(0), 0
	for n, ce := range []bool{false, true, false, false, true, true, true, true, false, true, false, false} {
		c.get(units.Time(n), segmentOf(n), full, ce)
		for h, ok := c.next(units.Time(n)); ok; h, ok = c.next(units.Time(n)) {
			if h.Echo {
				marked += int(h.Offset-covered) / full
			}
			covered = h.Offset
		}
	}
	if h, ok := c.next(10 * us); ok && !h.Echo {
		covered = h.Offset
	}
	if marked != 6 || covered != 12*full {
		t.Errorf("%d segments marked, want 6; %d acknowledged", marked, covered/full)
	}
}
