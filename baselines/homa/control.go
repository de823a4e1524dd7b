package homa

import "sirdbed/sirdnode/transport"

// A note is a control packet that waits to be sent.
type note struct {
	peer   transport.HostID
	kind   kind
	own    bool // this host sends the message
	id     transport.MessageID
	offset Bytes
	length Bytes
}

// fill makes the packet. What a RESEND asks for is sent at the highest
// priority, since it is late already (HomaModule, homa_timer.c).
func (n note) fill(p *transport.Packet) {
	h := header{kind: n.kind, own: n.own, id: n.id, offset: uint32(n.offset), length: uint32(n.length)}
	if n.kind == resend {
		h.priority = highest
	}
	h.encode(p)
	p.Peer = n.peer
}
