package homa

// Silence does not mean loss while the downlink is full: with strict priorities
// a message's packets wait in the switch for as long as more urgent ones
// arrive, which is several ms for the large messages of WKc. Once the link has
// had room for a round trip's bytes, whatever was in flight has arrived
// (README, Loss).

const (
	// 1/slackRoom of a full link may appear free, for links a little below
	// their nominal rate.
	slackRoom = 50
	// A full link explains silence for longestStarved times LossTimeout at
	// most.
	longestStarved = 8
)

// heardOf restarts the measure of a message's silence.
func (h *Homa) heardOf(now Time, m *inMessage) {
	m.heard, m.arrivals, m.asked = now, h.receiver.arrivals, 0
}

// overdue reports whether a message lacks bytes that its sender may have sent,
// and that would have arrived by now.
func (h *Homa) overdue(now Time, m *inMessage) bool {
	r := &h.receiver
	silence := now - m.heard
	if m.inFlight() == 0 || silence < h.params.LossTimeout {
		return false
	}
	room := silence - r.rate.TimeFor(r.arrivals-m.arrivals)
	return room >= r.rate.TimeFor(h.params.RTTBytes)+silence/slackRoom || silence >= longestStarved*h.params.LossTimeout
}
