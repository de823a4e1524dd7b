package sird

import "sirdbed/sirdnode/transport/queue"

// A seniority is a share of credit that goes to the oldest message, whatever the policy (README,
// Crediting): SRPT starves large ones, and kernel Homa keeps a share of its grants for them.
type seniority struct {
	share float64                // of credit
	queue queue.FIFO[*inMessage] // those that have needed credit, the oldest first
	due   Bytes                  // credit that is the oldest's
}

// mostSenior is how many of the oldest are looked at for one that may be credited.
const mostSenior = 16

// begins takes in a message that needs credit.
func (s *seniority) begins(m *inMessage) {
	if s.share > 0 {
		s.queue.Push(m.list())
	}
}

// granted notes that wire bytes of credit were granted, to the oldest or to another.
func (s *seniority) granted(wire, most Bytes, oldest bool) {
	s.due += Bytes(s.share * float64(wire))
	if oldest {
		s.due -= wire
	}
	s.due = min(s.due, most)
}

// oldest returns the oldest message that may be credited now, if it is its turn; else nil.
func (r *receiver) oldest() *inMessage {
	s := &r.seniority
	if s.due < r.frame {
		return nil
	}
	for s.queue.Len() > 0 && !(*s.queue.Front()).waitsForCredit() {
		m, _ := s.queue.Pop()
		r.unlist(m)
	}
	for k := range min(s.queue.Len(), mostSenior) {
		if m := *s.queue.At(k); m.waitsForCredit() && r.fitsBucket(m) && r.fitsB(m) {
			return m
		}
	}
	return nil
}

// waitsForCredit reports whether a message is kept and needs credit.
func (m *inMessage) waitsForCredit() bool { return !m.closed && !m.complete && m.needsCredit() }
