package sird

import "sirdbed/sirdnode/transport"

// What a sender sends again, and answers to a receiver that asks (README, Loss and silence).

// announce fills in a request, or a first packet that is sent again. If the
// message was acknowledged or failed while it waited, a BUSY goes in its place.
func (s *sender) announce(h *header, c controlPacket, p *transport.Packet) {
	o := s.peer(c.peer)
	m := o.messages.Find(c.id)
	if m == nil {
		h.kind, h.flags = busy, 0
		s.stampBusy(h, c, p)
		return
	}
	o.stampData(h, m, s.mss)
	p.ID, p.Tag, p.PayloadLen = m.ID, m.Tag, int(c.length)
}

// onResendPacket sends the range again, as far as it was sent. If that is not so its turn
// comes: the credit is for what the sender chooses.
func (s *sender) onResendPacket(now Time, h *header, peer transport.HostID) {
	o := s.peer(peer)
	s.addCredit(o, h)
	m := o.messages.Find(h.id)
	if m == nil {
		s.answer(o, h.id)
		s.returnUnused(o)
		return
	}
	m.confirm(now)
	from := min(Bytes(h.offset), m.sent)
	to := min(from+Bytes(h.length), m.sent)
	if from%s.mss == 0 && from < to {
		o.retransmit.Push(byteRange{m, from, to})
		m.repeats++
		s.count(m)
	}
	s.returnUnused(o)
}

// answer sends how far a message is, or that there is none of that id. Credit that is too
// little for the next packet goes back, and what was to be sent again with it is dropped: a
// RESEND that arrived twice has used up the rest, and the receiver, which learns that there is
// none, requests and grants anew.
func (s *sender) answer(o *outPeer, id transport.MessageID) {
	if held := o.held(); held > 0 {
		if _, _, _, ok := s.nextPacket(o); !ok {
			s.spend(o, held)
			s.env.Sink.Count(&creditReturned, int(held))
			s.cancelRetransmits(o)
		}
	}
	c := controlPacket{peer: o.id, kind: busy, id: id}
	if o.messages.Find(id) == nil {
		c.flags = gone
	}
	s.control.Push(c)
}

// stampBusy fills in a BUSY of this moment. It goes in the class of scheduled data, so that
// all that was sent before has arrived before, unless it was lost.
func (s *sender) stampBusy(h *header, c controlPacket, p *transport.Packet) {
	o := s.peer(c.peer)
	o.stamp(h)
	h.offset, h.length = o.granted, 0
	if m := o.messages.Find(c.id); m != nil {
		h.length = uint32(m.sent)
	}
	p.Priority = s.levels.scheduled
}
