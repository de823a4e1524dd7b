package homa

import "sirdbed/sirdnode/transport"

// A controlPacket waits to be sent.
type controlPacket struct {
	peer       transport.HostID
	kind       kind
	fromSender bool // of the message, which is this host
	id         transport.MessageID
	offset     Bytes
	length     Bytes
}

// fill encodes the packet. A RESEND asks for the highest priority, since the bytes
// are late already (HomaModule, homa_timer.c).
func (n controlPacket) fill(p *transport.Packet) {
	h := header{kind: n.kind, fromSender: n.fromSender, id: n.id, offset: uint32(n.offset), length: uint32(n.length)}
	if n.kind == resend {
		h.priority = highest
	}
	h.encode(p)
	p.Peer = n.peer
}
