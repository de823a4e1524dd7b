package sird

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

// A sender announces a message again when nothing has shown for too long that the
// receiver knows it: nobody else misses a message of which all was lost. It
// answers a RESEND with data, or with a BUSY where there is none to send (README,
// Loss and silence). After MaxResends attempts without an answer the message fails.

var announces = transport.Counter{Name: "messages_announced_again"}

// announceTimeout is how long a sender waits for an answer before it announces a
// message again: longer than the receiver, whose turn comes first. It backs off
// once the receiver has confirmed that it knows the message.
func (s *sender) announceTimeout() Time { return 2 * s.params.LossTimeout }

// checkLoss does what is due. It reports whether there is anything that may be
// lost.
func (s *sender) checkLoss(now Time) (pending bool) {
	for _, o := range s.peers {
		if o != nil && o.messages.Len() > 0 {
			pending = true
			s.announceOverdue(now, o)
		}
	}
	return pending
}

// announceOverdue announces messages again that were not answered in time.
func (s *sender) announceOverdue(now Time, o *outPeer) {
	for m := range o.messages.All() {
		begun := m.sent > 0 || m.prefix == 0
		if !begun || now-m.lastActivity < m.timeout {
			continue
		}
		if m.attempts >= s.params.MaxResends {
			s.remove(o, m)
			s.env.Sink.Failed(now, m.Message, fmt.Sprintf("%s did not answer %d attempts, %v apart",
				s.env.Fabric.HostName(o.id), m.attempts, m.timeout))
			continue
		}
		m.attempts++
		m.lastActivity = now
		c := controlPacket{peer: o.id, kind: data, id: m.ID, flags: request}
		if !m.confirmed && m.prefix > 0 { // the first packet again
			c.flags, c.length = 0, min(s.mss, m.prefix)
		}
		if m.confirmed {
			m.timeout = timer.Backoff(m.timeout, s.announceTimeout())
		}
		s.control.Push(c)
		s.env.Sink.Count(&announces, 1)
	}
}

// announce fills in a request, or a first packet that is sent again. If the
// message was acknowledged or failed while it waited, a BUSY goes in its place.
func (s *sender) announce(h *header, c controlPacket, p *transport.Packet) {
	o := s.peer(c.peer)
	m := o.messages.Find(c.id)
	if m == nil {
		h.kind, h.flags = busy, 0
		o.stamp(h)
		return
	}
	o.stampData(h, m, s.mss)
	p.ID, p.Tag, p.PayloadLen = m.ID, m.Tag, int(c.length)
}

// onResendPacket sends the part of the range that was sent before again. What was
// not sent is still to come: the credit for it, if held all along, goes back.
func (s *sender) onResendPacket(now Time, h *header, peer transport.HostID) {
	o := s.peer(peer)
	heldBefore, epochBefore := o.held(), o.epoch
	s.addCredit(o, h)
	m := o.messages.Find(h.id)
	if m == nil {
		s.control.Push(controlPacket{peer: o.id, kind: busy, flags: gone, id: h.id})
		s.returnUnused(o)
		return
	}
	m.confirm(now)
	from := min(Bytes(h.offset), m.Size)
	to := min(from+Bytes(h.length), m.Size)
	if from%s.mss != 0 || from == to {
		return // no range of whole packets
	}
	if split := min(to, m.sent); from < split {
		s.sendAgain(o, byteRange{m, from, split})
	}
	if unsent := max(from, m.sent); unsent < to {
		if o.epoch != epochBefore {
			heldBefore = 0 // it is void
		}
		s.returnSurplus(o, byteRange{m, unsent, to}, heldBefore)
	}
	s.activate(o)
	s.returnUnused(o)
}

// sendAgain puts a range up for retransmission, in place of an earlier one of the
// same message. A BUSY goes back if there is no credit for it yet.
func (s *sender) sendAgain(o *outPeer, again byteRange) {
	o.cancelRetransmit(again.m)
	o.retransmit = append(o.retransmit, again)
	if o.held() < s.wireOf(min(s.mss, again.to-again.from)) {
		s.control.Push(controlPacket{peer: o.id, kind: busy, id: again.m.ID})
	}
}

// returnSurplus answers a RESEND for bytes that were not sent yet with a BUSY, and
// gives back what it granted too much: the credit for unscheduled bytes, and for
// scheduled ones if there was enough before.
func (s *sender) returnSurplus(o *outPeer, unsent byteRange, heldBefore Bytes) {
	m, from, surplus := unsent.m, unsent.from, Bytes(0)
	if free := min(unsent.to, m.prefix); from < free {
		surplus += s.wireOfRange(free - from)
		from = free
	}
	if cost := s.wireOfRange(unsent.to - from); heldBefore >= cost {
		surplus += cost
	}
	s.spend(o, min(surplus, o.held()))
	s.control.Push(controlPacket{peer: o.id, kind: busy, id: m.ID})
}
