package xpass

import (
	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
)

// A state is how far the sending end of a connection has got with its message.
type state uint8

const (
	idle       state = iota // no message
	requesting              // CREDIT_REQUEST sent, no credit yet
	receiving               // credits arrive
	stopped                 // CREDIT_STOP sent: credits under way may still arrive
)

// An outbound is the sending end of a connection.
type outbound struct {
	slot    queue.Slot // in XPass.timers
	expires Time
	peer    *outPeer
	conn    uint16

	state      state
	failed     bool // the last message was given up
	m          transport.Message
	sent       Bytes                    // payload sent so far, in order
	retransmit struct{ from, to Bytes } // what is left of the last NACK's range

	attempts    int    // since the receiver last answered
	seq         uint32 // of the latest credit; they are numbered from 1 on
	rtt         Time   // from request to first credit
	requestedAt Time   // when the request was last sent
	stopAt      Time   // when the stop was last sent

	// Credits since recentSince, to know when those to come cover what is left.
	recentSince   Time
	recentCredits int64
}

// An outPeer is the connections to one receiver.
type outPeer struct {
	id    transport.HostID
	conns []*outbound
	pool  *flow.Pool[outbound]
}

var (
	wasted     = transport.Counter{Name: "credits_wasted"}
	earlyStops = transport.Counter{Name: "credit_stops_early"}
)

func (x *XPass) outPeer(id transport.HostID) *outPeer {
	o := x.outPeers[id]
	if o == nil {
		o = &outPeer{id: id}
		o.pool = flow.NewPool(x.params.Connections, func(n int) *outbound {
			c := &outbound{peer: o, conn: uint16(n)}
			o.conns = append(o.conns, c)
			return c
		})
		x.outPeers[id] = o
	}
	return o
}

// Send implements transport.Transport.
func (x *XPass) Send(now Time, m transport.Message) {
	o := x.outPeer(m.Peer)
	if !x.env.Fits(now, m, layout.MaxMessage) {
		o.pool.Skip(m.ID)
		return
	}
	if c := o.pool.Add(m); c != nil {
		x.begin(now, c, m)
	}
}

func (x *XPass) begin(now Time, c *outbound, m transport.Message) {
	c.m, c.sent, c.attempts, c.failed = m, 0, 0, false
	c.retransmit.from, c.retransmit.to = 0, 0
	x.sendRequest(now, c)
}

// end frees the connection for the next message.
func (x *XPass) end(now Time, c *outbound) {
	c.state = idle
	x.timers.Remove(c)
	c.peer.pool.Settle(c.m.ID)
	if m, ok := c.peer.pool.Release(c); ok {
		x.begin(now, c, m)
	}
}

// left returns the number of packets to be sent, retransmissions included.
func (x *XPass) left(c *outbound) int64 {
	return x.packets(c.m.Size-c.sent) + x.packets(c.retransmit.to-c.retransmit.from)
}

func (x *XPass) sendRequest(now Time, c *outbound) {
	c.state, c.requestedAt = requesting, now
	x.queued.Push(queuedPacket{kind: request, peer: c.peer.id, conn: c.conn, id: c.m.ID})
	x.setTimer(c, now+x.params.RetransmitTimeout)
}

func (x *XPass) sendStop(now Time, c *outbound) {
	c.state, c.stopAt = stopped, now
	// Data for credits that arrive before the stop leaves is queued after it.
	x.queued.Push(queuedPacket{kind: stop, peer: c.peer.id, conn: c.conn, id: c.m.ID, offset: c.sent})
	if x.left(c) > 0 {
		// As released: what the credits under way did not cover is requested
		// again.
		x.setTimer(c, now+2*c.rtt)
	} else {
		x.setTimer(c, now+x.params.RetransmitTimeout)
	}
}

// receiveFromReceiver takes the packets of a message's receiver.
func (x *XPass) receiveFromReceiver(now Time, h *header, peer transport.HostID) {
	o := x.outPeers[peer]
	if o == nil || int(h.conn) >= len(o.conns) {
		return
	}
	c := o.conns[h.conn]
	if h.kind == credit {
		x.receiveCredit(now, c, h)
		return
	}
	if c.state == idle || c.m.ID != h.id {
		return
	}
	c.attempts = 0
	switch h.kind {
	case ack:
		m := c.m
		x.end(now, c)
		x.env.Sink.Acked(now, m)
	case nack:
		x.receiveNack(now, c, h)
	case busy:
		x.setTimer(c, now+x.params.RetransmitTimeout)
	}
}

// receiveCredit answers a credit with a data packet, and stops the credits when
// no more are needed (README, Credits; recv_credit of the released simulator).
func (x *XPass) receiveCredit(now Time, c *outbound, h *header) {
	if c.state == idle || uint16(c.m.ID) != uint16(h.id) {
		x.env.Sink.Count(&wasted, 1)
		if c.failed && uint16(c.m.ID) == uint16(h.id) {
			x.queued.Push(queuedPacket{kind: stop, gone: true, peer: c.peer.id, conn: c.conn, id: c.m.ID})
		}
		return
	}
	if int32(h.seq-c.seq) <= 0 {
		return // a duplicate, or overtaken
	}
	c.seq, c.attempts = h.seq, 0
	c.recentCredits++
	if c.state == requesting {
		c.state, c.rtt = receiving, max(1, now-c.requestedAt)
		c.recentSince, c.recentCredits = now, 1
	}
	switch {
	case !x.sendFor(c, h):
		x.env.Sink.Count(&wasted, 1)
		if c.state == stopped && now-c.stopAt >= 2*c.rtt {
			x.sendStop(now, c) // the last one seems to have been lost
		}
	case c.state == receiving: // released, no timer runs from here on
		x.setTimer(c, now+x.params.StopTimeout)
		x.stopInTime(now, c)
	case x.left(c) == 0:
		x.setTimer(c, now+x.params.RetransmitTimeout)
	}
}

// stopInTime sends a CREDIT_STOP when everything has been sent, or when the credits
// of one more round trip will cover what is left.
func (x *XPass) stopInTime(now Time, c *outbound) {
	left := x.left(c)
	if left == 0 {
		x.sendStop(now, c)
		return
	}
	if x.params.EarlyStop == 0 || now-c.recentSince < c.rtt {
		return
	}
	if float64(c.recentCredits) >= x.params.EarlyStop*float64(left) {
		x.env.Sink.Count(&earlyStops, 1)
		x.sendStop(now, c)
	}
	c.recentSince, c.recentCredits = now, 0
}

// sendFor queues the data packet that a credit allows. It returns false if
// there is none to send.
func (x *XPass) sendFor(c *outbound, h *header) bool {
	n := queuedPacket{kind: data, peer: c.peer.id, conn: c.conn, id: c.m.ID, seq: h.seq, time: h.time}
	if c.retransmit.from < c.retransmit.to {
		n.offset, n.length = c.retransmit.from, min(x.mss, c.retransmit.to-c.retransmit.from)
		c.retransmit.from += n.length
		x.env.Sink.Count(&retransmissions, 1)
	} else if c.sent < c.m.Size {
		n.offset, n.length = c.sent, min(x.mss, c.m.Size-c.sent)
		c.sent += n.length
	} else {
		return false
	}
	x.queued.Push(n)
	return true
}

// fillOutbound fills in a queued packet of the sending role. It returns false if the
// connection has moved on to another message.
func (x *XPass) fillOutbound(now Time, n *queuedPacket, h *header, p *transport.Packet) bool {
	c := x.outPeers[n.peer].conns[n.conn]
	if n.gone {
		return true
	}
	if c.state == idle || c.m.ID != n.id {
		return false
	}
	switch n.kind {
	case request:
		c.requestedAt = now
		h.count = uint32(min(x.left(c), 1<<32-1))
	case stop:
		h.count = uint32(n.offset)
	case data:
		h.seq, h.time = n.seq, n.time
		h.length, h.tag, h.offset, h.aboveFloor = uint32(c.m.Size), c.m.Tag, uint32(n.offset),
			c.peer.pool.AboveFloor(n.id)
		p.ID, p.Tag, p.Offset, p.PayloadLen = n.id, c.m.Tag, n.offset, int(n.length)
	}
	return true
}
