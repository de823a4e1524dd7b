package homa

// Silence does not mean loss while the downlink is full: with strict priorities
// a message's packets wait in the switch for as long as more urgent ones come,
// which for the large messages of WKc is several milliseconds. Once the link
// has had a round trip's room, what was on its way has come through.

const (
	// slackRoom is the share of a full link that may seem free: 1/slackRoom, for
	// links a little below their rate.
	slackRoom = 50
	// longestStarved times LossTimeout is how long a full link explains silence.
	longestStarved = 8
)

// heardOf begins a message's silence anew.
func (h *Homa) heardOf(now Time, m *inMessage) {
	m.heard, m.arrivals, m.asked = now, h.receiver.arrivals, 0
}

// overdue reports that a message misses bytes which its sender may have sent, and
// which would have arrived.
func (h *Homa) overdue(now Time, m *inMessage) bool {
	r := &h.receiver
	silence := now - m.heard
	if m.inFlight() == 0 || silence < h.params.LossTimeout {
		return false
	}
	room := silence - r.rate.TimeFor(r.arrivals-m.arrivals)
	return room >= r.rate.TimeFor(h.params.RTTBytes)+silence/slackRoom || silence >= longestStarved*h.params.LossTimeout
}
