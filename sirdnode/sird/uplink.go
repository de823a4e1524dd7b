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
	if !m.begun {
		s.begun(now, o, m)
	}
	if offset+n == m.Size && offset+n == m.sent && !retransmission {
		o.whole.Push(m)
	}
	o.stampData(&h, m, s.mss)
	s.address(&h, o.id)
	h.encode(p) // line 9
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = o.id, m.ID, m.Tag, offset, int(n)
	s.returnUnused(o)
	return true
}

var retransmissions = transport.Counter{Name: "retransmissions"}

// advance counts n bytes at offset as sent, or as sent again.
func (s *sender) advance(o *outPeer, m *outMessage, offset, n Bytes) {
	if offset >= m.sent {
		m.sent += n
		o.requeue(m)
		return
	}
	if first := o.retransmit.Front(); first.from+n < first.to {
		first.from += n
	} else {
		o.retransmit.Pop()
	}
	s.env.Sink.Count(&retransmissions, 1)
}

// congested reports whether data is to carry csn: more than SThr of credit is
// held, self-allocated credit included, and enough messages compete (README, CSN).
func (s *sender) congested() bool {
	return s.messages >= s.params.CSNMessages && s.held+s.unscheduled > s.params.SThr.of(s.params.BDP)
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

// selectReceiver chooses whom to send to by the released simulator's deficit
// rule: for each packet, receivers share SenderFair of it equally, and the one
// whose message has the fewest bytes left gets the rest. The largest deficit
// sends and pays one packet. A receiver that cannot be sent to has none.
func (s *sender) selectReceiver() *outPeer {
	able, shortest := s.ableReceivers()
	if len(able) <= 1 {
		return shortest
	}
	quantum := s.params.SenderFair / float64(len(able))
	for {
		var best *outPeer
		for _, o := range able {
			o.deficit += quantum
			if o == shortest {
				o.deficit += 1 - s.params.SenderFair
			}
			if best == nil || o.deficit > best.deficit || o.deficit == best.deficit && o.id < best.id {
				best = o
			}
		}
		if best.deficit >= 1 {
			best.deficit--
			return best
		}
	}
}

// ableReceivers moves the receivers that can be sent to now to the front of
// activeReceivers, and returns them and the one whose message has the fewest
// bytes left. Receivers without a backlog leave the list.
func (s *sender) ableReceivers() (able []*outPeer, shortest *outPeer) {
	var least Bytes
	n := 0
	active := s.activeReceivers
	for i := 0; i < len(active); {
		o := active[i]
		if !o.backlogged() {
			o.active, o.deficit = false, 0
			active[i] = active[len(active)-1]
			active = active[:len(active)-1]
			continue
		}
		i++
		m, _, _, ok := s.nextPacket(o)
		if !ok {
			o.deficit = 0
			continue
		}
		// Ties go to the lower host, whatever the list's order.
		if left := m.unsent(); shortest == nil || left < least || left == least && o.id < shortest.id {
			shortest, least = o, left
		}
		active[i-1], active[n] = active[n], active[i-1]
		n++
	}
	s.activeReceivers = active
	return active[:n], shortest
}
