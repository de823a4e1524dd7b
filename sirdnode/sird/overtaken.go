package sird

// Messages that were lost whole, which only their sender can miss before long: an acknowledgement tells of the
// messages below its own, and leaves out one that was sent before (README, Order).

// overtakes notes that o has acknowledged m with others: what was sent to it before has arrived before it, or is
// late or lost (README, Order).
func (s *sender) overtakes(now Time, o *outPeer, m *outMessage) {
	took := now - m.sentAt
	switch {
	case m.again && took < o.took/2: // the answer to what was sent first: it was late, not lost
		o.tolerance = min(2*o.tolerance, mostTolerance*s.round)
	case !m.again && m.sentAt > o.shownAt:
		o.shownAt, o.took = m.sentAt, took
	}
}

// findOvertaken looks whether an acknowledgement tells that o lacks the message that has waited longest, and has
// what was sent after it. Of more than a packet o misses by itself what is lost.
func (s *sender) findOvertaken(now Time, o *outPeer, a acked) {
	m, _ := s.oldest(o)
	if m == nil || m.sentAt >= o.shownAt {
		return
	}
	below := int32(a.top - m.ID)
	told := below > 0 && below <= ackWindow
	switch {
	case m.sent == 0 && m.prefix == 0: // a request
		m.answerIn = o.took + o.tolerance + requestAnswer*s.round
	case m.sent == m.Size && m.Size <= s.mss && told && o.shownAt-m.sentAt >= o.tolerance:
		m.answerIn = 1
	default:
		return
	}
	if due := max(now, m.lastActivity+s.patienceWith(o, m)); due < o.due {
		s.checkAt(o, due)
	}
}

// patienceWith is how long o may take to answer for m.
func (s *sender) patienceWith(o *outPeer, m *outMessage) Time {
	if wait := s.patience(o); m.answerIn == 0 || wait < m.answerIn {
		return wait
	}
	return m.answerIn
}

// requestAnswer is for how many rounds longer than an acknowledgement a request may go without an answer. No
// acknowledgement tells that it has not arrived: the receiver waits two rounds for its credit, and the answer may
// wait behind an incast of prefixes.
const requestAnswer = 16
