package sird

import "sirdbed/sirdnode/transport"

// What was sent before something that has arrived, and has not arrived itself, is late or
// lost (README, Order). Within a message first transmissions go in the order of
// offsets. Between the messages of a sender the total that it has spent is the order:
// a retransmission goes before all else, on credit up to the total that its RESEND
// carried, so when more than that is spent it has been sent, or its RESEND was lost. How
// late a packet may be is a time (as RACK has it, RFC 8985, section 3), which grows with
// the reordering that there is.

// A stretch is a range of payload.
type stretch struct{ from, to Bytes }

// A suspect is a range that was overtaken, and is lost if it has not arrived when due.
type suspect struct {
	m *inMessage
	stretch
	due Time
}

// A wanted is a range that was requested with a RESEND.
type wanted struct {
	m *inMessage
	stretch
	total uint32 // granted when it was
}

// mostTolerance is the longest tolerance, in rounds.
const mostTolerance = 8

// leastTolerance returns how late packets from a sender may be before any was seen to be
// late: little if there is one path only.
func (e *endpoint) leastTolerance(id transport.HostID) Time {
	switch f := e.env.Fabric; {
	case e.params.LossDetection == "silence":
		return e.params.LossTimeout
	case f.Spec.Spines > 1 && f.LeafOf(id) != f.LeafOf(e.env.Self):
		return 2 * e.round
	}
	return e.round / 4
}

// order takes note of a packet of m, with its place among those that were sent.
func (r *receiver) order(now Time, m *inMessage, p stretch) {
	switch {
	case p.from > m.high:
		r.suspect(now, m, stretch{m.high, p.from})
		m.gapAt = now
	case p.from < m.high && !m.asked && m.gapAt > 0:
		// It was overtaken, and that late.
		m.from.tolerance = max(m.from.tolerance, min(2*(now-m.gapAt), mostTolerance*r.round))
	}
	m.high = max(m.high, p.to)
}

// suspect has a range of m looked at again when what is only late has arrived.
func (r *receiver) suspect(now Time, m *inMessage, s stretch) {
	r.suspects.Push(suspect{m.list(), s, now + m.from.tolerance})
}

// overtaken suspects what was requested of a sender, as far as it has spent what came
// with the requests.
func (r *receiver) overtaken(now Time, i *inPeer) {
	for i.wanted.Len() > 0 && int32(i.spent-i.wanted.Front().total) >= 0 {
		w, _ := i.wanted.Pop()
		r.suspect(now, w.m, w.stretch)
		r.unlist(w.m)
	}
}

// findLost makes what is due and has not arrived wanted again: credit for it competes
// with that for other bytes.
func (r *receiver) findLost(now Time) {
	for r.suspects.Len() > 0 && r.suspects.Front().due <= now {
		s, _ := r.suspects.Pop()
		m := s.m
		r.unlist(m)
		if m.closed || m.complete {
			continue
		}
		for from, to, ok := m.received.Gap(s.from, s.to); ok; from, to, ok = m.received.Gap(to, s.to) {
			m.lost.Push(stretch{from, to})
			if unscheduled := min(to, m.prefix) - from; unscheduled > 0 {
				r.release(m, r.wireOfRange(unscheduled)) // nothing is to be expected of it
			}
		}
		if m.lost.Len() > 0 {
			r.activate(m)
		}
		r.place(m.from)
	}
}

// firstLost returns the first range of m that is lost and has not arrived since.
func (m *inMessage) firstLost() (s stretch, ok bool) {
	for m.lost.Len() > 0 {
		front := m.lost.Front()
		if s.from, s.to, ok = m.received.Gap(front.from, front.to); ok {
			front.from = s.from
			return s, true
		}
		m.lost.Pop()
	}
	return s, false
}

// waits reports whether m has bytes that are lost, for which there was no credit yet.
func (m *inMessage) waits() bool {
	_, lost := m.firstLost()
	return lost
}
