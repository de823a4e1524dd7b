package broker

import (
	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/transport"
	"sirdbed/traffic"
)

// attempts is how often a receipt is sent at most. Each time the transport gives up
// after attempts of its own.
const attempts = 8

// An outgoing message is on its way to another host, or waits to be answered there.
type outgoing struct {
	kind    kind
	code    frame.Code // of a receipt
	service uint16
	peer    transport.HostID
	id      uint32
	tag     traffic.Tag
	body    *content // until the transport has delivered it or given it up
	size    int      // of the body, as long as it is charged

	client *Client // whose message it is; nil if it has gone
	asked  uint32  // the number that the client gave it, or the token of the request that it answers
	tries  int     // of receipts and withdrawals
}

// post sends what has no data: a receipt or a withdrawal.
func (b *Broker) post(o *outgoing) {
	o.body = b.pool.take(headerLen)
	b.seal(o)
	b.offers = append(b.offers, o)
}

// seal writes the header of a message that has its data.
func (b *Broker) seal(o *outgoing) {
	h := header{kind: o.kind, code: o.code, service: o.service, id: o.id,
		length: uint32(o.body.size - headerLen), crc: o.body.crc()}
	h.put(o.body.chunk(0))
}

// submit sends a message of a program, whose data is there.
func (b *Broker) submit(o *outgoing) {
	if o.kind != kindReply {
		o.id = b.next()
		o.tag = tagOf(o.id)
		b.pending[o.id] = o
	}
	b.seal(o)
	b.offers = append(b.offers, o)
}

// Fill writes the payload of a packet into buf: bytes that the transport sends.
func (b *Broker) Fill(buf []byte, p *transport.Packet) {
	o := b.sent[number{p.Peer, p.ID}]
	if o == nil { // given up or acknowledged, so that nobody reads it
		clear(buf)
		return
	}
	o.body.read(int(p.Offset), buf)
}

// Acked takes the transport's word that a message has been delivered.
func (b *Broker) Acked(m transport.Message) {
	o := b.settled(m)
	if o != nil && o.kind == kindReply {
		b.complete(o, frame.OK, "")
	}
}

// Failed takes the transport's word that it has given a message up.
func (b *Broker) Failed(m transport.Message, reason string) {
	o := b.settled(m)
	if o == nil {
		return
	}
	switch o.kind {
	case kindMessage, kindRequest:
		if b.pending[o.id] == o {
			b.complete(o, frame.Failed, reason)
		}
		b.withdraw(m)
	case kindReply:
		b.complete(o, frame.Failed, reason)
		b.refuse(o.peer, o.id, frame.Failed)
		b.withdraw(m)
	default:
		if o.tries++; o.tries < attempts {
			b.post(o)
		}
	}
}

// withdraw has the receiver of a message forget what has arrived of it.
func (b *Broker) withdraw(m transport.Message) {
	b.post(&outgoing{kind: kindWithdrawal, peer: m.Peer, id: uint32(m.ID), tag: tagOf(b.next())})
}

// settled takes a message back that the transport has done with.
func (b *Broker) settled(m transport.Message) *outgoing {
	at := number{m.Peer, m.ID}
	o := b.sent[at]
	if o == nil {
		return nil
	}
	delete(b.sent, at)
	if o.size > 0 {
		b.outgoing -= o.body.size
	}
	b.pool.give(o.body)
	o.body = nil
	b.admit()
	return o
}

// complete has the program know what became of its message, and ends its charges.
func (b *Broker) complete(o *outgoing, code frame.Code, reason string) {
	if o.kind != kindReply { // whose id is its receiver's
		delete(b.pending, o.id)
	}
	b.uncharge(o)
	if o.client != nil {
		answer := frame.Result
		if o.kind == kindReply {
			answer = frame.Replied
		}
		o.client.say(frame.Header{Kind: answer, Code: code, ID: o.asked}, reason)
	}
	b.admit()
}

// charge notes what a message takes of the limits.
func (b *Broker) charge(o *outgoing) {
	o.size = o.body.size
	b.outgoing += o.size
	o.client.bytes += o.size
	o.client.messages++
	if o.kind != kindReply {
		b.window[o.peer] += o.size
	}
}

// uncharge ends what charge has begun, but for the host's memory: that is the body's.
func (b *Broker) uncharge(o *outgoing) {
	if o.client != nil {
		o.client.bytes -= o.size
		o.client.messages--
	}
	if o.kind != kindReply {
		b.window[o.peer] -= o.size
	}
}

// room reports whether a message of a client fits into all limits.
func (b *Broker) room(c *Client, k kind, peer transport.HostID, size int) bool {
	fits := func(used, limit int) bool { return used == 0 || used+size <= limit }
	return c.messages < b.limits.Messages && fits(c.bytes, b.limits.Client) && fits(b.outgoing, b.limits.Outgoing) &&
		(k == kindReply || fits(b.window[peer], b.limits.Window))
}
