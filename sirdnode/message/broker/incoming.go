package broker

import (
	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// An incoming message arrives, or waits for its program to take it or to answer it.
type incoming struct {
	peer    transport.HostID
	size    int
	head    [headerLen]byte // also where there was no room for the rest
	body    *content        // nil where there was no room, and once it is in the socket
	charged bool            // to the host's limit
	request bool
	taken   bool
	id      uint32 // at its sender
	client  *Client
}

// Data takes payload that has arrived for the first time.
func (b *Broker) Data(m transport.Message, offset units.Bytes, data []byte) {
	at := number{m.Peer, m.ID}
	in := b.arriving[at]
	if in == nil {
		in = &incoming{peer: m.Peer, size: int(m.Size)}
		b.arriving[at] = in
		if in.size <= b.limits.Message+headerLen && (b.incoming == 0 || b.incoming+in.size <= b.limits.Incoming) {
			in.body, in.charged = b.pool.take(in.size), true
			b.incoming += in.size
		}
	}
	if offset < headerLen {
		copy(in.head[offset:], data)
	}
	if in.body != nil {
		in.body.write(int(offset), data)
	}
}

// Delivered takes the transport's word that all of a message is there. It reports whether
// that is what was sent.
func (b *Broker) Delivered(m transport.Message) (intact bool) {
	at := number{m.Peer, m.ID}
	in := b.arriving[at]
	if in == nil {
		return true // its sender has withdrawn it
	}
	delete(b.arriving, at)
	full := in.body == nil
	if full { // the header says who is to know
		in.body = &content{size: headerLen, pieces: [][]byte{in.head[:]}}
	}
	h, ok := in.body.parse()
	if full {
		in.body, ok = nil, true
	}
	in.id, in.request = h.id, h.kind == kindRequest
	switch {
	case h.kind == kindMessage || h.kind == kindRequest:
		b.arrived(in, &h, full, ok)
	case h.kind == kindReply && !full && ok:
		b.answered(in)
	default:
		b.drop(in)
		b.control(m.Peer, &h, full, ok)
	}
	return ok
}

// arrived has a program take a message, or its sender know that none does.
func (b *Broker) arrived(in *incoming, h *header, full, ok bool) {
	to := b.services[h.service]
	switch {
	case full:
		b.refuse(in.peer, in.id, frame.Full)
	case !ok:
		b.refuse(in.peer, in.id, frame.Damaged)
	case to == nil:
		b.refuse(in.peer, in.id, frame.NoListener)
	default:
		token := b.next()
		b.tokens[token] = in
		in.client = to
		f := frame.Header{Kind: frame.Message, Service: h.service, Host: uint16(in.peer), ID: token, Length: h.length}
		if in.request {
			f.Kind = frame.Asked
		}
		to.pass(f, in)
		return
	}
	b.drop(in)
}

// answered passes the reply to a request on to whoever asked.
func (b *Broker) answered(in *incoming) {
	o := b.pending[in.id]
	if o == nil || o.peer != in.peer || o.kind != kindRequest {
		b.drop(in)
		return
	}
	delete(b.pending, o.id)
	b.uncharge(o)
	if o.client == nil {
		b.drop(in)
	} else {
		in.taken = true // it is the connection's alone
		o.client.pass(frame.Header{Kind: frame.Answer, ID: o.asked, Length: uint32(in.size - headerLen)}, in)
	}
	b.admit()
}

// control obeys what carries no data: a receipt, a withdrawal, or a reply that there was
// no room for.
func (b *Broker) control(peer transport.HostID, h *header, full, ok bool) {
	if h.kind == kindWithdrawal {
		at := number{peer, transport.MessageID(h.id)}
		if in := b.arriving[at]; in != nil {
			delete(b.arriving, at)
			b.drop(in)
		}
		return
	}
	o := b.pending[h.id]
	if o == nil || o.peer != peer || h.kind != kindReceipt && h.kind != kindReply {
		return
	}
	code := h.code
	switch {
	case full:
		code = frame.Full
	case !ok:
		code = frame.Damaged
	case h.code == frame.OK && o.kind == kindRequest:
		return // a reply is to come
	}
	b.complete(o, code, "")
}

// drop gives up what is left of an incoming message.
func (b *Broker) drop(in *incoming) {
	b.pool.give(in.body)
	in.body = nil
	b.discharge(in)
}

// discharge ends what a message takes of the host's limit.
func (b *Broker) discharge(in *incoming) {
	if in.charged {
		in.charged = false
		b.incoming -= in.size
	}
}

// take notes that a program has taken a message: its sender is to know.
func (b *Broker) take(c *Client, token uint32) bool {
	in := b.tokens[token]
	if in == nil || in.client != c || in.taken || in.body != nil {
		return false
	}
	in.taken = true
	c.ahead -= in.size
	b.discharge(in)
	if !in.request {
		delete(b.tokens, token)
		b.refuse(in.peer, in.id, frame.OK)
	}
	return true
}
