package homa

// A message without progress need not have lost anything while the downlink is
// full: with strict priorities its packets wait in the switch for as long as more
// urgent ones arrive, which is several ms for the large messages of WKc. Once the
// link has had room for a round trip's bytes, whatever was under way has arrived
// (README, Loss).

const (
	// 1/roomTolerance of a full link may appear to be free, for links a little
	// below their nominal rate.
	roomTolerance = 50
	// A full downlink explains a time without progress of up to maxStarved times
	// LossTimeout.
	maxStarved = 8
)

// markProgress restarts the loss timeout of a message.
func (h *Homa) markProgress(now Time, m *inMessage) {
	m.lastProgress, m.downlinkThen, m.resends = now, h.receiver.downlinkBytes, 0
}

// timedOut reports whether a message lacks bytes that its sender may have sent,
// and that should have arrived by now.
func (h *Homa) timedOut(now Time, m *inMessage) bool {
	r := &h.receiver
	elapsed := now - m.lastProgress
	if m.outstanding() == 0 || elapsed < h.params.LossTimeout {
		return false
	}
	room := elapsed - r.rate.TimeFor(r.downlinkBytes-m.downlinkThen)
	return room >= r.rate.TimeFor(h.params.RTTBytes)+elapsed/roomTolerance || elapsed >= maxStarved*h.params.LossTimeout
}
