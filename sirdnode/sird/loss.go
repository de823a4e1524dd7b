package sird

import (
	"fmt"
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

// Loss is inferred from silence (paper, section 4.4; design.md section 5). A
// receiver that misses bytes its sender may have sent asks for them with a
// RESEND, which is a grant as well. If the sender as a whole stays silent, the
// credit it holds is reclaimed: a new epoch voids it. A sender whose message is
// neither acknowledged nor otherwise heard of announces it again. Either gives
// up after MaxResends attempts without an answer.

var (
	resends   = transport.Counter{Name: "resends_asked"}
	reclaims  = transport.Counter{Name: "credit_reclaims"}
	announces = transport.Counter{Name: "messages_announced_again"}
	abandons  = transport.Counter{Name: "inbound_messages_abandoned"}
)

// lookForSilence does what is due at both ends, in an order that does not
// depend on how maps are laid out.
func (s *SIRD) lookForSilence(now Time) {
	for _, o := range s.sender.peers {
		if o != nil && o.messages.Len() > 0 {
			s.silent.Arm(now)
			s.announceAgain(now, o)
		}
	}
	for _, i := range s.receiver.met {
		if i.messages.Len() > 0 || i.inFlight() != 0 {
			s.silent.Arm(now)
			s.askAgain(now, i)
		}
	}
}

// announceAgain sends the first packet again of messages that nothing was heard
// about for too long.
func (s *SIRD) announceAgain(now Time, o *outPeer) {
	for m := range o.messages.All() {
		if m.sent < m.prefix && m.sent == 0 || now-m.heard < m.wait {
			continue // settled, or not sent yet, or heard of
		}
		if m.tries >= s.params.MaxResends {
			s.drop(o, m)
			s.env.Sink.Failed(now, m.Message, fmt.Sprintf("%s did not answer %d attempts, %v apart",
				s.env.Fabric.HostName(o.id), m.tries, m.wait))
			continue
		}
		m.tries++
		m.heard = now
		n := note{peer: o.id, kind: data, id: m.ID, flags: request}
		if !m.known && m.prefix > 0 {
			n.flags, n.length = 0, min(s.mss, m.prefix)
		}
		if m.known {
			m.wait = timer.Backoff(m.wait, s.firstWait())
		}
		s.control.Push(n)
		s.env.Sink.Count(&announces, 1)
	}
}

// askAgain asks a sender for what is overdue.
func (s *SIRD) askAgain(now Time, i *inPeer) {
	silent := i.messages.Select(func(m *inMessage) bool {
		return m.overdue() && now-m.heard >= s.params.LossTimeout
	})
	gone := now-i.heard >= 2*s.params.LossTimeout
	if gone && i.granted != i.spent {
		s.reclaim(i)
	}
	for _, m := range silent {
		s.uncharge(m, m.uncounted)
		if m.asked >= s.params.MaxResends {
			s.giveUp(i, m)
		}
		if i.messages.Find(m.ID) != m {
			continue
		}
		m.asked++
		m.heard = now
		s.ask(m)
	}
}

// giveUp abandons m, and with it all else of a sender that has not been heard of
// for as long.
func (s *SIRD) giveUp(i *inPeer, m *inMessage) {
	for other := range i.messages.All() {
		if other == m || i.silent {
			s.env.Sink.Count(&abandons, 1)
			s.abandon(other)
		}
	}
}

// ask grants and requests the first missing range of m, as much of it as B and
// the cap of one BDP allow, but at least a packet, and no more than that from a
// sender that fell silent.
func (s *SIRD) ask(m *inMessage) {
	from, to, ok := m.got.Gap(0, m.granted)
	if !ok {
		return
	}
	room := min(s.receiver.limit-s.receiver.used, s.params.BDP-m.from.inFlight())
	n := min(to-from, max(1, room/s.frame)*s.mss)
	if m.from.silent {
		n = min(n, s.mss)
	}
	if !m.from.farBehind() {
		s.charge(m.from, s.wireOfRange(n))
	}
	s.control.Push(note{peer: m.from.id, kind: resend, id: m.ID, offset: from, length: n})
	s.env.Sink.Count(&resends, 1)
}

// reclaim declares void what credit a sender may still hold, and begins a new
// epoch of its totals.
func (s *SIRD) reclaim(i *inPeer) {
	s.receiver.used -= Bytes(int32(i.granted - i.spent))
	i.granted, i.spent = 0, 0
	i.epoch = (i.epoch + 1) & 15
	i.silent = true
	s.env.Sink.Count(&reclaims, 1)
}

// abandon forgets a message that will not be completed.
func (s *SIRD) abandon(m *inMessage) {
	s.uncharge(m, m.uncounted)
	m.from.want.Remove(m)
	m.from.messages.Drop(m.ID)
}

// receiveResend sends the part of the range that was sent before again. What
// was not is still to come: the credit for it, if held all along, goes back.
func (s *SIRD) receiveResend(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	before, epoch := o.held(), o.epoch
	s.takeCredit(o, h)
	m := o.messages.Find(h.id)
	if m == nil {
		s.control.Push(note{peer: o.id, kind: busy, flags: gone, id: h.id})
		s.returnUnused(o)
		return
	}
	m.answered(s, now)
	from := min(Bytes(h.offset), m.Size)
	to := min(from+Bytes(h.length), m.Size)
	if from%s.mss != 0 || from == to {
		return // makes no sense
	}
	if split := min(to, m.sent); from < split {
		o.again = slices.DeleteFunc(o.again, func(a span) bool { return a.m == m })
		o.again = append(o.again, span{m, from, split})
		if o.held() < s.wireOf(min(s.mss, split-from)) {
			s.control.Push(note{peer: o.id, kind: busy, id: m.ID}) // not without credit
		}
	}
	if unsent := max(from, m.sent); unsent < to {
		surplus := Bytes(0)
		if free := min(to, m.prefix); unsent < free {
			surplus += s.wireOfRange(free - unsent)
			unsent = free
		}
		if cost := s.wireOfRange(to - unsent); o.epoch == epoch && before >= cost {
			surplus += cost
		}
		s.spend(o, min(surplus, o.held()))
		s.control.Push(note{peer: o.id, kind: busy, id: m.ID})
	}
	s.activate(o)
	s.returnUnused(o)
}

// receiveBusy takes word from the other end that a message waits there: at its
// receiver for credit (with the request flag), or at its sender for the uplink.
func (s *SIRD) receiveBusy(now Time, h *header, peer transport.HostID) {
	if h.flags&request != 0 {
		s.receiveCredit(now, h, peer)
		return
	}
	i := s.inPeer(peer)
	s.takeSpent(i, h)
	m := i.messages.Find(h.id)
	switch {
	case m == nil:
	case h.flags&gone != 0:
		s.abandon(m)
	default:
		m.heard, m.asked = now, 0
	}
}
