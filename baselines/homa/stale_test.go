package homa_test

import (
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// Answers that come late or twice change nothing: an UNKNOWN counts once, and
// only if asked for.
func TestStaleUnknownIsIgnored(t *testing.T) {
	f := rack(t, 2)
	h := newCore(t, f, 0, params(f, nil))
	h.Send(0, transport.Message{Peer: 1, Size: 3 * mss})
	for range 3 {
		h.next(0)
	}
	h.get(10, 1, homa.Header{Kind: "UNKNOWN"}, 0)
	if _, hd, ok := h.next(10); ok {
		t.Errorf("begun again though nobody asked: %+v", hd)
	}
	if _, hd, _ := h.next(5 * units.Millisecond); hd.Kind != "NEED_ACK" {
		t.Errorf("%+v, want NEED_ACK", hd)
	}
	for range 2 {
		h.get(5*units.Millisecond+10, 1, homa.Header{Kind: "UNKNOWN"}, 0)
		n := 0
		for _, _, ok := h.next(5*units.Millisecond + 10); ok; _, _, ok = h.next(5*units.Millisecond + 10) {
			n++
		}
		if n != 3 && n != 0 {
			t.Errorf("%d packets follow", n)
		}
	}
	if s := h.Broken(); s != "" {
		t.Error(s)
	}
}

// A duplicate of a delivered message is acknowledged again and not delivered,
// even when all that the receiver remembers is that ids below the sender's
// lowest unsettled one are settled.
func TestLateDuplicateIsAcknowledgedAgain(t *testing.T) {
	h := newCore(t, rack(t, 2), 1, params(rack(t, 2), nil))
	send := func(id, aboveFloor int) string {
		h.get(0, 0, homa.Header{Kind: "DATA", ID: transport.MessageID(id), AboveFloor: uint16(aboveFloor), Length: 8,
			Unscheduled: 1}, 8)
		_, hd, _ := h.next(0)
		return hd.Kind
	}
	for n, c := range []struct{ id, aboveFloor, delivered, remembered int }{
		{0, 0, 1, 1}, {0, 0, 1, 1}, {1, 1, 2, 2}, {3, 3, 3, 3}, {4, 2, 4, 2}, {0, 0, 4, 2}, {1, 1, 4, 2}, {2, 0, 5, 3},
		{5, 0, 6, 1},
	} {
		if kind := send(c.id, c.aboveFloor); kind != "ACK" || h.sink.Deliveries != c.delivered ||
			h.Remembered(0) != c.remembered {
			t.Errorf("%d: %+v: %s, %d delivered, %d remembered", n, c, kind, h.sink.Deliveries, h.Remembered(0))
		}
	}
}

// A RESEND that comes twice causes nothing to be sent twice, and an ACK cancels
// what waits to be sent again.
func TestRangesAreSentAgainOnceAndNotAfterTheAck(t *testing.T) {
	f := rack(t, 2)
	for _, acked := range []bool{false, true} {
		h := newCore(t, f, 0, params(f, nil))
		h.Send(0, transport.Message{Peer: 1, Size: 20 * mss})
		for range 20 {
			h.next(0)
		}
		for range 2 {
			h.get(10, 1, homa.Header{Kind: "RESEND", Offset: 2 * mss, Length: 3 * mss, Priority: 7}, 0)
			h.get(10, 1, homa.Header{Kind: "RESEND", Offset: 10 * mss, Length: mss, Priority: 7}, 0)
		}
		want := []uint32{2 * mss, 3 * mss, 4 * mss, 10 * mss}
		if acked {
			h.get(10, 1, homa.Header{Kind: "ACK"}, 0)
			want = nil
		}
		for _, offset := range want {
			if p, hd, _ := h.next(20); hd.Offset != offset || p.Priority != 7 || hd.Kind != "DATA" {
				t.Errorf("%+v, want data from %d", hd, offset)
			}
		}
		if _, hd, ok := h.next(20); ok {
			t.Errorf("acked %v: more is sent: %+v", acked, hd)
		}
	}
}

// The silence of a message that waited for its turn counts from its grant.
func TestSilenceBeginsWithTheGrant(t *testing.T) {
	f := rack(t, 3)
	p := params(f, func(p *homa.Params) { p.Overcommitment = 1 })
	h := newCore(t, f, 2, p)
	h.get(0, 0, homa.Header{Kind: "DATA", Length: 2 * mss, Unscheduled: 1}, mss)
	h.get(0, 1, homa.Header{Kind: "DATA", Length: 3 * mss, Unscheduled: 1}, mss)
	h.next(0) // the grant of all of the first one
	late := 5 * p.LossTimeout
	h.get(late, 0, homa.Header{Kind: "DATA", Offset: mss, Length: 2 * mss, Unscheduled: 1}, mss)
	granted := units.Never
	for now := late; now < 10*p.LossTimeout; now += 10_000 {
		for p2, hd, ok := h.next(now); ok; p2, hd, ok = h.next(now) {
			switch {
			case hd.Kind == "GRANT" && p2.Peer == 1 && granted == units.Never:
				granted = now
			case hd.Kind == "RESEND" && p2.Peer == 1:
				if now < granted+p.LossTimeout || now > granted+2*p.LossTimeout {
					t.Errorf("asked for at %v, granted at %v", now, granted)
				}
				return
			}
		}
	}
	t.Error("never asked for")
}

// A sender that enters the ranking is owed one packet, however long it waited.
func TestFirstGrantIsOnePacket(t *testing.T) {
	f := rack(t, 2)
	h := newCore(t, f, 1, params(f, nil))
	for i := range uint32(10) {
		h.get(50_000, 0, homa.Header{Kind: "DATA", Offset: i * mss, Length: 1000 * mss, Unscheduled: 69}, mss)
	}
	for n, want := range []bool{true, false} {
		if _, hd, ok := h.next(50_000); ok != want {
			t.Errorf("packet %d: %+v %v", n, hd, ok)
		}
	}
	if at := h.Wake(); at != 50_124 {
		t.Errorf("the next goes at %v", at)
	}
}

// A receiver that has forgotten a message counts what its sender was granted
// before as granted.
func TestDataBeyondTheGrantsIsTaken(t *testing.T) {
	f := rack(t, 2)
	h := newCore(t, f, 1, params(f, nil))
	h.get(0, 0, homa.Header{Kind: "DATA", Offset: 100 * mss, Length: 200 * mss, Unscheduled: 69}, mss)
	if got, _ := h.Outstanding(0, 0); got != 100*mss || h.Broken() != "" {
		t.Errorf("%v in flight: %s", got, h.Broken())
	}
	if _, hd, ok := h.next(0); ok {
		t.Errorf("%+v, though more than RTTbytes are out", hd)
	}
}
