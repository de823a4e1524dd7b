package sird

import (
	"slices"

	"sirdbed/sirdnode/transport"
)

// nextData sends the next DATA packet, if any receiver has one that needs no
// credit or has credit enough (Algorithm 2).
func (s *SIRD) nextData(now Time, p *transport.Packet) bool {
	o := s.pickReceiver()
	if o == nil {
		return false
	}
	m, from, n, _ := s.candidate(o)
	h := header{offset: uint32(from)}
	wire := s.wireOf(n)
	if s.congested() {
		h.flags |= csn
	}
	p.Priority = s.levels.unscheduled
	retransmission := from < m.sent
	if retransmission || from >= m.prefix {
		s.spend(o, wire)
		h.flags |= scheduled
		p.Priority = s.levels.scheduled
	} else {
		o.unscheduled -= wire
		s.sender.unscheduled -= wire
	}
	if retransmission {
		if o.again[0].from += n; o.again[0].from == o.again[0].to {
			o.again = slices.Delete(o.again, 0, 1)
		}
		s.env.Sink.Count(&retransmissions, 1)
	} else {
		m.sent += n
		o.sortIn(m)
	}
	m.heard = now
	s.dataHeader(&h, o, m)
	h.encode(p)
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = o.id, m.ID, m.Tag, from, int(n)
	s.returnUnused(o)
	return true
}

var retransmissions = transport.Counter{Name: "retransmissions"}

// congested tells whether data is to carry csn: more credit is held than SThr,
// self-allocated credit included, and more than one message competes
// (protocols.md sections 1.6 and 11).
func (s *SIRD) congested() bool {
	return s.sender.count >= s.params.CSNMessages &&
		s.sender.credit+s.sender.unscheduled > s.params.SThr.of(s.params.BDP)
}

// pickReceiver chooses whom to send to by the released simulator's deficit
// rule: for each packet, receivers share SenderFair of it equally, and the one
// whose message has the fewest bytes left gets the rest. The largest deficit
// sends and pays one packet. A receiver that cannot send has none.
func (s *SIRD) pickReceiver() *outPeer {
	var shortest *outPeer
	var least Bytes
	able := 0
	active := s.sender.active
	for i := 0; i < len(active); {
		o := active[i]
		if o.idle() {
			o.active, o.deficit = false, 0
			active[i] = active[len(active)-1]
			active = active[:len(active)-1]
			continue
		}
		i++
		m, _, _, ok := s.candidate(o)
		if !ok {
			o.deficit = 0
			continue
		}
		// Ties go to the lower host, whatever the list's order.
		if left := m.unsent(); shortest == nil || left < least || left == least && o.id < shortest.id {
			shortest, least = o, left
		}
		active[i-1], active[able] = active[able], active[i-1]
		able++
	}
	s.sender.active = active
	if able <= 1 {
		return shortest
	}
	quantum := s.params.SenderFair / float64(able)
	for {
		var best *outPeer
		for _, o := range active[:able] {
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
