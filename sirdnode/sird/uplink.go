package sird

import "sirdbed/sirdnode/transport"

// sendData is Algorithm 2, lines 4 to 10: it sends the next DATA packet, if there
// is a receiver with one that needs no credit or has enough.
func (s *sender) sendData(now Time, p *transport.Packet) bool {
	o := s.selectReceiver() // lines 5 and 6
	if o == nil {
		return false
	}
	m, offset, n, _ := s.nextPacket(o)
	h := header{kind: unscheduled, offset: uint32(offset)}
	if s.congested() { // line 7
		h.flags |= csn
	}
	p.Priority = s.levels.unscheduled
	retransmission := offset < m.sent
	if retransmission || offset >= m.prefix {
		s.spend(o, s.wireOf(n)) // line 8
		h.kind = data
		p.Priority = s.levels.scheduled
	} else {
		o.unscheduled -= s.wireOf(n)
		s.unscheduled -= s.wireOf(n)
	}
	s.advance(o, m, offset, n)
	m.lastActivity = now
	if !retransmission {
		m.sentAt, m.answerIn = now, 0
	}
	if !m.begun {
		s.begun(now, o, m)
	}
	if offset+n == m.Size && offset+n == m.sent && !retransmission {
		s.list(&o.whole, m)
		s.expectAnswer(now, o)
	}
	o.stampData(&h, m, s.mss)
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = o.id, m.ID, m.Tag, offset, int(n)
	s.ride(&h, p)
	s.address(&h, o.id)
	h.encode(p) // line 9
	s.returnUnused(o)
	s.place(o)
	return true
}

var retransmissions = transport.Counter{Name: "retransmissions"}

// advance counts n bytes at offset as sent, or as sent again.
func (s *sender) advance(o *outPeer, m *outMessage, offset, n Bytes) {
	if offset >= m.sent {
		m.sent += n
		o.requeue(m)
		s.count(m)
		return
	}
	if first := o.retransmit.Front(); first.from+n < first.to {
		first.from += n
	} else {
		o.retransmit.Pop()
		m.repeats--
		s.count(m)
	}
	s.env.Sink.Count(&retransmissions, 1)
}

// congested reports whether data is to carry csn: more than SThr of credit is
// held, self-allocated credit included, and enough messages compete (README, CSN).
func (s *sender) congested() bool {
	return s.messages >= s.params.CSNMessages && s.held+s.unscheduled > s.congestion
}

// nextPacket returns the packet that the next transmission to o would be: message,
// offset and payload. It is false when there is nothing to send, or no credit for
// it. Retransmissions come first, then messages that the receiver may not know
// of, then the one with the fewest bytes left (README, Sender).
func (s *sender) nextPacket(o *outPeer) (m *outMessage, offset, n Bytes, ok bool) {
	if o.retransmit.Len() > 0 {
		a := o.retransmit.Front()
		n = min(s.mss, a.to-a.from)
		if o.held() >= s.wireOf(n) {
			return a.m, a.from, n, true
		}
	}
	if m = o.unannounced.Top(); m != nil {
		return m, m.sent, min(s.mss, m.prefix-m.sent), true
	}
	if m = o.scheduled.Top(); m != nil {
		n = min(s.mss, m.unsent())
		return m, m.sent, n, o.held() >= s.wireOf(n)
	}
	return nil, 0, 0, false
}

// one is a packet, of which deficits are shares.
const one = 1 << 24

// selectReceiver chooses whom to send to by the released simulator's deficit
// rule: for each packet, receivers share SenderFair of it equally, and the one
// whose message has the fewest bytes left gets the rest. The largest deficit
// sends and pays one packet. A receiver that cannot be sent to has none.
//
// What all share is kept once, in level, so that a packet costs the same with few receivers and
// with many.
func (s *sender) selectReceiver() *outPeer {
	shortest := s.shortest.Top()
	n := int64(s.activeReceivers.Len())
	if n <= 1 {
		return shortest
	}
	fair := int64(s.params.SenderFair * one)
	each, extra := fair/n, one-fair
	// All gain until one has a packet's worth.
	gains := max(1, min(gainsUntil(s.activeReceivers.Top().deficit+s.level, each),
		gainsUntil(shortest.deficit+s.level, each+extra)))
	s.level += gains * each
	s.owe(shortest, gains*extra)
	best := s.activeReceivers.Top()
	s.owe(best, -one)
	if s.level > mostLevel {
		s.settleLevel()
	}
	return best
}

// gainsUntil returns how often a deficit must grow by each until it is a packet.
func gainsUntil(deficit, each int64) int64 {
	if each == 0 {
		return 1 << 32
	}
	return (one - deficit + each - 1) / each
}

// owe adds to the deficit of a receiver.
func (s *sender) owe(o *outPeer, more int64) {
	o.deficit += more
	// Ties go to the lower host.
	s.activeReceivers.Set(o, Bytes(-o.deficit*int64(len(s.peers))+int64(o.id)))
}

// mostLevel keeps deficits far from overflow.
const mostLevel = 1 << 40

// settleLevel adds to each deficit what all share.
func (s *sender) settleLevel() {
	level := s.level
	s.level = 0
	for _, o := range s.peers {
		if o != nil && o.able.In() {
			s.owe(o, level)
		}
	}
}

// place puts a receiver among those that can be sent to now, or takes it out. It follows
// whatever changes that.
func (s *sender) place(o *outPeer) {
	m, _, _, ok := s.nextPacket(o)
	if !ok {
		s.activeReceivers.Remove(o)
		s.shortest.Remove(o)
		return
	}
	if !o.able.In() {
		o.deficit = -s.level
		s.owe(o, 0)
	}
	s.shortest.Set(o, m.unsent()*Bytes(len(s.peers))+Bytes(o.id))
}
