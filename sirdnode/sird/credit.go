package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// wantCredit puts a message where the receiver's policy finds it, or moves it
// there: by bytes still to come under SRPT, by arrival under round robin.
func (s *SIRD) wantCredit(m *inMessage) {
	switch {
	case s.params.ReceiverPolicy != "round_robin":
		m.from.want.Set(m, m.left())
	case !m.slot.In():
		m.from.want.Set(m, 0)
	}
	if !m.from.listed {
		m.from.listed = true
		s.receiver.wanting = append(s.receiver.wanting, m.from)
	}
}

// nextCredit sends the next CREDIT, if the pacer, B and the sender buckets
// allow one (Algorithm 1). When only the pacer does not, at is when it will.
func (s *SIRD) nextCredit(now Time, p *transport.Packet) (at Time, ok bool) {
	m := s.pickMessage()
	if m == nil {
		return units.Never, false
	}
	if !s.receiver.pacer.Ready(now) {
		return s.receiver.pacer.At(), false
	}
	i := m.from
	cost := s.grant(now, m)
	s.receiver.pacer.Sent(now, cost, units.Nanosecond)
	s.receiver.turns++
	i.turn = s.receiver.turns
	s.fillControl(note{peer: i.id, kind: credit, id: m.ID, offset: m.granted}, p)
	s.settle(m)
	return 0, true
}

// grantSize returns the payload and the wire bytes of m's next grant: one
// packet.
func (s *SIRD) grantSize(m *inMessage) (payload, wire Bytes) {
	payload = min(s.mss, m.Size-m.granted)
	return payload, s.wireOf(payload)
}

// grant charges m's next packet. Silence begins to count when there is something
// to be heard.
func (s *SIRD) grant(now Time, m *inMessage) Bytes {
	if !m.overdue() {
		m.heard = now
	}
	if m.from.granted == m.from.spent {
		m.from.heard = now
	}
	payload, wire := s.grantSize(m)
	if m.granted += payload; m.granted == m.Size {
		m.from.want.Remove(m)
	}
	s.charge(m.from, wire)
	return wire
}

func (s *SIRD) charge(i *inPeer, wire Bytes) {
	i.granted += uint32(wire)
	s.receiver.used += wire
}

// pickMessage returns the message that the policy credits next, nil when none
// may be.
func (s *SIRD) pickMessage() (best *inMessage) {
	// Under SRPT a smaller packet may take what budget is left. Under round robin
	// the turn waits for the budget, so that large packets do not starve.
	srpt := s.params.ReceiverPolicy != "round_robin"
	wanting := s.receiver.wanting
	for k := 0; k < len(wanting); {
		i := wanting[k]
		m := i.want.Top()
		if m == nil {
			i.listed = false
			wanting[k] = wanting[len(wanting)-1]
			wanting = wanting[:len(wanting)-1]
			continue
		}
		k++
		if s.mayGrant(i, m) && (!srpt || s.inBudget(m)) && (best == nil || s.before(m, best)) {
			best = m
		}
	}
	s.receiver.wanting = wanting
	if best != nil && !s.inBudget(best) {
		return nil
	}
	return best
}

// inBudget reports whether B has room for the next packet of m.
func (s *SIRD) inBudget(m *inMessage) bool {
	_, wire := s.grantSize(m)
	return s.receiver.used+wire <= s.receiver.limit
}

// before is the receiver's policy between two senders.
func (s *SIRD) before(a, b *inMessage) bool {
	if s.params.ReceiverPolicy == "round_robin" {
		if a.from.turn != b.from.turn {
			return a.from.turn < b.from.turn
		}
	} else if a.left() != b.left() {
		return a.left() < b.left()
	}
	return a.from.id < b.from.id
}

// mayGrant reports whether sender i's bucket and the cap of one BDP let the
// next packet of m be credited. The bucket is compared before adding by
// default, else one smaller than a frame would never grant again. A sender that
// fell silent gets one packet's credit at a time: it may be dead, and others can
// use the rest.
func (s *SIRD) mayGrant(i *inPeer, m *inMessage) bool {
	_, wire := s.grantSize(m)
	flight := i.inFlight()
	if flight+wire > s.params.BDP || i.silent && flight > 0 || i.farBehind() {
		return false
	}
	if s.params.BucketCheck == "after" {
		return flight+wire <= i.bucket()
	}
	return flight <= i.bucket()
}
