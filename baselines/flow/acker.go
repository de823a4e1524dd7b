package flow

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

// An acker acknowledges what arrives on one connection. A delayed acknowledgement
// waits for SegmentsPerAck full segments, or for DelayedAck. None is delayed out
// of order, at a message's end, or when congestion begins or ends (RFC 5681,
// section 4.2; RFC 8257, section 3.2; README, Acknowledgements).
type acker struct {
	slot         queue.Slot // in Transport.delayed, while an acknowledgement waits
	due          Time
	pending      queuedAck // the acknowledgement that waits
	fullSegments int       // full segments that it covers
	marked       bool      // the last packet was marked
}

// A queuedAck is an acknowledgement that waits to be sent.
type queuedAck struct {
	header
	peer    transport.HostID
	entropy uint16
	arrived Time // when the packet that caused it arrived
}

// acker returns the acker of a peer's connection.
func (t *Transport) acker(peer transport.HostID, connection uint8) *acker {
	list := t.ackers[peer]
	for int(connection) >= len(list) {
		list = append(list, nil)
	}
	t.ackers[peer] = list
	if list[connection] == nil {
		list[connection] = &acker{}
	}
	return list[connection]
}

// receiveData takes a data packet, and acknowledges it now or later.
func (t *Transport) receiveData(now Time, h *header, p *transport.Packet) {
	n := Bytes(p.PayloadLen)
	m, verdict := t.inbox.Take(now, Segment{
		ID: h.id, Tag: h.tag, Length: Bytes(h.length), Offset: Bytes(h.offset), AboveFloor: h.aboveFloor,
	}, p)
	if verdict == Malformed {
		return
	}
	a := t.acker(p.Peer, h.connection)
	if a.slot.In() && (p.CE != a.marked || a.pending.id != h.id) {
		t.acknowledge(a)
	}
	a.marked = p.CE
	if !a.slot.In() {
		a.fullSegments = 0
	}
	if n >= t.mss {
		a.fullSegments++
	}
	a.pending = queuedAck{
		header: header{kind: ack, echo: p.CE, connection: h.connection, id: h.id, offset: h.length, stamp: h.stamp},
		peer:   p.Peer, entropy: p.Entropy, arrived: p.Arrived,
	}
	inOrder := false
	if verdict == Fresh || verdict == Duplicate {
		inOrder = fillRanges(&a.pending.header, m, Bytes(h.offset), n) && verdict == Fresh
	}
	if !inOrder || t.config.DelayedAck == 0 || a.fullSegments >= t.config.SegmentsPerAck {
		t.acknowledge(a)
		return
	}
	if !a.slot.In() {
		a.due = now + t.config.DelayedAck
		t.delayed.Set(a, Bytes(a.due))
	}
}

// fillRanges writes into h what has arrived of m: the offset up to which all has,
// the packet just received if it lies beyond that, and the two lowest ranges
// beyond. It reports whether nothing lies beyond.
func fillRanges(h *header, m *Inbound, offset, n Bytes) bool {
	whole := m.Received()
	h.offset = uint32(whole)
	if offset > whole {
		h.ranges[h.n] = extent{uint32(offset), uint32(offset + n)}
		h.n++
	}
	_, from, _ := m.Gap(whole)
	for from < m.Size && h.n < maxRanges {
		to, next, more := m.Gap(from)
		if !more {
			to, next = m.Size, m.Size
		}
		h.ranges[h.n] = extent{uint32(from), uint32(to)}
		h.n++
		from = next
	}
	return h.n == 0
}

// acknowledge queues an acker's pending acknowledgement.
func (t *Transport) acknowledge(a *acker) {
	t.delayed.Remove(a)
	a.fullSegments = 0
	t.acks.Push(a.pending)
}

// acknowledgeDue queues the acknowledgements whose delay is over.
func (t *Transport) acknowledgeDue(now Time) {
	for a := t.delayed.Top(); a != nil && a.due <= now; a = t.delayed.Top() {
		t.acknowledge(a)
	}
}

// nextDelayed returns when the next delayed acknowledgement is due.
func (t *Transport) nextDelayed() Time {
	if a := t.delayed.Top(); a != nil {
		return a.due
	}
	return units.Never
}

// fillAck encodes the acknowledgement.
func (n *queuedAck) fillAck(now Time, p *transport.Packet) {
	n.ackDelay = uint32(min(max(now-n.arrived, 0), 1<<32-1))
	p.Peer = n.peer
	// A connection's acknowledgements take one path too.
	p.Entropy = n.entropy
	n.encode(p)
}
