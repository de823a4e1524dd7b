package broker

import "testing"

// Incoming is how many bytes have arrived, or are arriving, and were not taken.
func (b *Broker) Incoming() int { return b.incoming }

// CheckIdle fails if anything is left of messages that are all settled.
func (b *Broker) CheckIdle(t testing.TB) {
	t.Helper()
	if b.outgoing != 0 || b.incoming != 0 {
		t.Errorf("%d bytes are charged as outgoing and %d as incoming, want none", b.outgoing, b.incoming)
	}
	for peer, n := range b.window {
		if n != 0 {
			t.Errorf("%d bytes are charged to the window of host %d, want none", n, peer)
		}
	}
	for what, n := range map[string]int{"offers": len(b.offers), "sent": len(b.sent), "pending": len(b.pending),
		"arriving": len(b.arriving), "tokens": len(b.tokens), "waiting": len(b.waiting)} {
		if n != 0 {
			t.Errorf("%s: %d are left, want none", what, n)
		}
	}
}
