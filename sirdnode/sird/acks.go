package sird

import (
	"math/bits"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// Acknowledgements (README, Acknowledgements). The acknowledgement of a small message waits for
// a packet to its sender that it can ride on, such as the reply, and for others that share
// a packet with it. Each names the last 32 messages besides, so the next one makes up for
// one that was lost.

// acked is which messages of a peer were delivered, as packets tell it.
type acked struct {
	top   transport.MessageID // the highest of them
	below uint32              // bit k: top-1-k as well
}

// ackWindow is how many messages below the highest acked can tell of.
const ackWindow = 32

// add takes a message in. The lowest are forgotten if it is higher than top.
func (a *acked) add(id transport.MessageID) {
	d := int32(id - a.top)
	switch {
	case d > 0:
		a.below = a.below<<d | 1<<(d-1) // shifted by more than there is: 0
		a.top = id
	case d < 0:
		a.below |= 1 << -(d + 1)
	}
}

// upTo returns what is told of messages up to one of them.
func (a *acked) upTo(id transport.MessageID) acked {
	if d := int32(a.top - id); d >= 0 {
		return acked{id, a.below >> d}
	}
	return acked{id, 0}
}

// A debt is what was delivered from a peer, and what of it is not acknowledged yet.
type debt struct {
	recent acked
	any    bool // something was delivered
	owed   bool // of recent, from lowest on
	lowest transport.MessageID
	due    Time
}

// An ackDue is when a debt may be due.
type ackDue struct {
	peer transport.HostID
	at   Time
}

// mostOwed is from how many ids on acknowledgements do not wait for more. The other half of what they
// tell of repeats the ones before.
const mostOwed = ackWindow / 2

// deliver has a message acknowledged: at once if it needed credit, or if packets will not tell of
// it; else when there is something to ride on, or after the delay.
func (e *endpoint) deliver(now Time, m *inMessage) {
	d, id := &e.debts[m.Peer], m.ID
	if !d.any {
		d.any, d.recent.top = true, id
	}
	if d.owed && int32(id-d.lowest) >= ackWindow {
		e.acknowledge(m.Peer, d.recent.top)
	}
	if int32(d.recent.top-id) > ackWindow {
		e.acknowledge(m.Peer, id)
		return
	}
	d.recent.add(id)
	if m.prefix < m.Size || e.ackDelay == 0 {
		e.acknowledge(m.Peer, id)
		return
	}
	if !d.owed {
		d.owed, d.lowest, d.due = true, id, now+e.ackDelay
		e.acks.Push(ackDue{m.Peer, d.due})
	}
	if int32(id-d.lowest) < 0 {
		d.lowest = id
	}
	if int32(d.recent.top-d.lowest) >= mostOwed-1 {
		e.acknowledge(m.Peer, d.recent.top)
	}
}

// acknowledge sends an ACK of a message, and of those below it. One of the highest is of all that
// are owed.
func (e *endpoint) acknowledge(peer transport.HostID, id transport.MessageID) {
	d := &e.debts[peer]
	if id == d.recent.top {
		d.owed = false
	}
	e.control.Push(controlPacket{peer: peer, kind: ack, id: id, below: d.recent.upTo(id).below})
}

// repeat answers a sender that does not know that a message was delivered. It may have missed others
// near it, too.
func (r *receiver) repeat(i *inPeer, id transport.MessageID) {
	a := acked{top: id}
	for k := range transport.MessageID(ackWindow) {
		if i.messages.IsDone(id + 1 + k) {
			a.add(id + 1 + k)
		}
	}
	r.control.Push(controlPacket{peer: i.id, kind: ack, id: a.top, below: a.below})
}

// acknowledgeDue sends the ACKs that found nothing to ride on.
func (e *endpoint) acknowledgeDue(now Time) {
	for e.acks.Len() > 0 && e.acks.Front().at <= now {
		a, _ := e.acks.Pop()
		if d := &e.debts[a.peer]; d.owed && d.due <= now {
			e.acknowledge(a.peer, d.recent.top)
		}
	}
}

// acksAt returns when acknowledgeDue is to be called next.
func (e *endpoint) acksAt() Time {
	if e.acks.Len() > 0 {
		return e.acks.Front().at
	}
	return units.Never
}

// ride has a packet acknowledge what is owed to its peer, if it has room.
func (e *endpoint) ride(h *header, p *transport.Packet) {
	d := &e.debts[p.Peer]
	if !d.owed || h.kind.rideAt() == 0 || Bytes(p.PayloadLen) > e.mss-rideLen {
		return
	}
	d.owed = false
	h.flags |= rides
	h.acked = d.recent
}

// onAcks ends the messages that a receiver acknowledges.
func (s *sender) onAcks(now Time, o *outPeer, a acked) {
	o.shownAt = 0
	s.onAck(now, o, a.top)
	s.onAcksBelow(now, o, a)
	s.findOvertaken(now, o, a)
}

func (s *sender) onAcksBelow(now Time, o *outPeer, a acked) {
	below := a.below
	// Those below the floor have ended.
	if open := int32(a.top - o.messages.Floor()); open <= 0 {
		return
	} else if open < ackWindow {
		below &= 1<<open - 1
	}
	for ; below != 0; below &= below - 1 {
		s.onAck(now, o, a.top-1-transport.MessageID(bits.TrailingZeros32(below)))
	}
}

// onAck ends a message.
func (s *sender) onAck(now Time, o *outPeer, id transport.MessageID) {
	m := o.messages.Find(id)
	if m == nil {
		return
	}
	o.slowest = max(now-m.lastActivity, o.slowest-o.slowest/64)
	s.overtakes(now, o, m)
	s.remove(o, m)
	s.env.Sink.Acked(now, m.Message)
	if m := s.pinned(o); m != nil {
		if due := s.askPinnedAt(o, m); due < o.due {
			s.checkAt(o, max(now, due))
		}
	}
}

// mostPinned is how many ids may be kept, at either end, for a message that was sent and is not
// acknowledged, until its receiver is asked for it without patience.
const mostPinned = 1000

// pinnedPatience is how long it may wait for an answer even so, in rounds: its last packets may be queued.
const pinnedPatience = 8

// pinned returns the lowest message to a receiver if it pins too many, nil if not.
func (s *sender) pinned(o *outPeer) *outMessage {
	floor := o.messages.Floor()
	if o.messages.Next()-floor < mostPinned {
		return nil
	}
	if m := o.messages.Find(floor); m != nil && m.unsent() == 0 && m.repeats == 0 {
		return m
	}
	return nil
}

// askPinnedAt is when the receiver is to be asked for a message that pins too many.
func (s *sender) askPinnedAt(o *outPeer, m *outMessage) Time {
	return max(m.lastActivity, o.announcedAt) + pinnedPatience*s.round<<min(o.attempts, 8)
}
