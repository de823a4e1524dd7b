package homa

import "sirdbed/sirdnode/transport"

// A note is a control packet that waits to be sent.
type note struct {
	peer   transport.HostID
	kind   kind
	own    bool // the message is one that this host sends
	id     transport.MessageID
	offset Bytes
	length Bytes
}

// fill makes the packet. What a RESEND asks for is to come at the highest
// priority: it is late already (HomaModule's homa_timer.c).
func (n note) fill(p *transport.Packet) {
	h := header{kind: n.kind, own: n.own, id: n.id, offset: uint32(n.offset), length: uint32(n.length)}
	if n.kind == resend {
		h.priority = highest
	}
	h.encode(p)
	p.Peer = n.peer
}

// queue is a FIFO of notes that keeps its memory.
type queue struct {
	list []note
	head int
}

func (q *queue) push(n note) { q.list = append(q.list, n) }

func (q *queue) pop() (note, bool) {
	if q.head == len(q.list) {
		return note{}, false
	}
	n := q.list[q.head]
	if q.head++; q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	return n, true
}
