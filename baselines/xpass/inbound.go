package xpass

import (
	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An inbound is the receiving end of a connection. Its message ids ascend: a
// connection carries one message after another.
type inbound struct {
	feedback
	slot queue.Slot // in XPass.crediting, while credits are sent
	due  Time       // of the next credit
	peer *inPeer
	conn uint16

	used         bool // there has been a message
	complete     bool // the message has been delivered
	id           transport.MessageID
	lastProgress Time  // when a packet of it last arrived
	furthest     Bytes // end of the furthest bytes that have arrived
	answeredAt   Time  // when a repeated request was last answered, or the first one came

	seq      uint32 // of the next credit, from 1 on, for all messages
	expected uint32 // of the next credit of this message for which data should come back

	nackFrom Bytes
	nackAt   Time
}

// An inPeer is the connections from one sender.
type inPeer struct {
	id    transport.HostID
	conns []*inbound // nil until used
}

var (
	creditsSent    = transport.Counter{Name: "credits_sent"}
	creditTimeouts = transport.Counter{Name: "credits_stopped_by_silence"}
)

func (x *XPass) inbound(peer transport.HostID, conn uint16) *inbound {
	i := x.inPeers[peer]
	if i == nil {
		i = &inPeer{id: peer}
		x.inPeers[peer] = i
	}
	for int(conn) >= len(i.conns) {
		i.conns = append(i.conns, nil)
	}
	c := i.conns[conn]
	if c == nil {
		c = &inbound{peer: i, conn: conn, seq: 1, expected: 1}
		i.conns[conn] = c
	}
	return c
}

// receiveFromSender takes the packets of a message's sender.
func (x *XPass) receiveFromSender(now Time, h *header, p *transport.Packet) {
	c := x.inbound(p.Peer, h.conn)
	if c.used && int32(h.id-c.id) < 0 {
		return // of a message that its sender has settled
	}
	if h.kind == data {
		x.receiveData(now, c, h, p)
		return
	}
	x.switchTo(c, h.id)
	if c.complete {
		x.reply(c, ack)
		return
	}
	c.lastProgress = now
	switch {
	case h.kind == request && c.slot.In():
		if now-c.answeredAt >= x.answerGap() {
			c.answeredAt = now
			x.reply(c, busy)
		}
	case h.kind == request:
		c.answeredAt = now
		c.start(now, &x.params, x.highest, max(1, h.count))
		x.creditAt(c, now)
	default:
		x.crediting.Remove(c)
		if !h.gone {
			x.requestMissing(now, c, Bytes(h.count), true)
		}
	}
}

// answerGap is how often a repeated request is answered of a message that waits for its credits: often
// enough that its sender does not give it up. Where thousands wait, an answer to each would take as much
// of the links as the requests do (README, Loss).
func (x *XPass) answerGap() Time {
	return min(x.params.StopTimeout, x.params.RetransmitTimeout*Time(x.params.MaxAttempts)/4)
}

// switchTo begins the message of that id, unless it has begun. If the one before
// is not complete, its sender has given it up.
func (x *XPass) switchTo(c *inbound, id transport.MessageID) {
	if c.used && c.id == id {
		return
	}
	x.crediting.Remove(c)
	c.used, c.complete, c.id, c.furthest = true, false, id, 0
	c.nackFrom = -1
	c.reset()
	c.expected = c.seq
}

func (x *XPass) reply(c *inbound, k kind) {
	x.queued.Push(queuedPacket{kind: k, peer: c.peer.id, conn: c.conn, id: c.id})
}

func (x *XPass) receiveData(now Time, c *inbound, h *header, p *transport.Packet) {
	s := flow.Segment{ID: h.id, Tag: h.tag, Length: Bytes(h.length), Offset: Bytes(h.offset), AboveFloor: h.aboveFloor}
	_, verdict := x.inbox.Take(now, s, p)
	if verdict == flow.Malformed {
		return
	}
	x.switchTo(c, h.id)
	c.lastProgress = now
	x.creditReturned(now, c, h, p.Arrived, verdict == flow.Fresh || verdict == flow.Completed)
	switch verdict {
	case flow.Completed:
		c.complete = true
		x.crediting.Remove(c)
		x.reply(c, ack)
	case flow.Settled:
		c.complete = true
		x.reply(c, ack)
	default:
		c.furthest = max(c.furthest, s.Offset+Bytes(p.PayloadLen))
		x.requestMissing(now, c, c.furthest, false)
	}
}

// creditReturned takes into the control loop what a data packet shows about
// credits: its own has arrived, and those before it without data are lost.
// Sequence numbers continue from message to message, so that no credit is taken for
// one of another, but those of the message before are not counted (README,
// Feedback).
func (x *XPass) creditReturned(now Time, c *inbound, h *header, arrived Time, fresh bool) {
	if int32(c.seq-h.seq) <= 0 {
		return // of a credit that was never sent
	}
	lost := int64(int32(h.seq - c.expected))
	if lost < 0 {
		// It was overtaken on the way, and counted as lost.
		if fresh && c.lost > 0 {
			c.lost--
			x.sinceGauged.lost--
		}
		return
	}
	c.expected = h.seq + 1
	if arrived <= 0 || arrived > now {
		arrived = now
	}
	c.returned(&x.params, lost, float64(max(1, uint32(arrived)-h.time)))
	x.sinceGauged.total += lost + 1
	x.sinceGauged.lost += lost
}

func (x *XPass) creditAt(c *inbound, at Time) {
	c.due = at
	x.crediting.Set(c, Bytes(at))
}

// nextCredit fills in the credit that is due. It returns false if none is.
func (x *XPass) nextCredit(now Time, p *transport.Packet) bool {
	c := x.crediting.Top()
	for ; c != nil && c.due <= now && now-c.lastProgress >= x.params.StopTimeout; c = x.crediting.Top() {
		x.env.Sink.Count(&creditTimeouts, 1)
		x.crediting.Remove(c)
	}
	if c == nil || c.due > now {
		return false
	}
	c.update(now, &x.params, x.highest, x.creditSize)
	r := x.env.Rand
	size := x.params.CreditMin + Bytes(r.Int64N(int64(x.params.CreditMax-x.params.CreditMin+1)))
	h := header{
		kind: credit, conn: c.conn, id: c.id, seq: c.seq, time: uint32(now),
		pad: uint8(max(0, size-topo.MinWire)),
	}
	c.seq++
	p.Credit = true
	x.address(p, c.peer.id, c.peer.id, x.env.Self, c.conn)
	h.encode(p)

	gap := x.creditSize / c.rate * float64(units.Second) * (1 + x.params.Jitter*(2*r.Float64()-1))
	// The gap is rounded up or down at random, so that the rate is right on
	// average. A credit that waited for the NIC does not delay the next ones.
	x.creditAt(c, max(c.due, now-x.slack)+Time(gap+r.Float64()))
	x.env.Sink.Count(&creditsSent, 1)
	return true
}

func (x *XPass) addGauges() {
	each := func(add func(c *inbound)) {
		for _, i := range x.inPeers {
			if i == nil {
				continue
			}
			for _, c := range i.conns {
				if c != nil && c.slot.In() {
					add(c)
				}
			}
		}
	}
	// Wire bytes of credit per second, over all connections.
	x.env.Sink.Gauge("credit_rate", func() (sum float64) {
		each(func(c *inbound) { sum += c.rate })
		return sum
	})
	x.env.Sink.Gauge("w", func() (mean float64) {
		each(func(c *inbound) { mean += c.w })
		return mean / float64(max(1, x.crediting.Len()))
	})
	// Share lost of the credits whose fate became known since the last reading.
	x.env.Sink.Gauge("credit_loss", func() float64 {
		loss := float64(x.sinceGauged.lost) / float64(max(1, x.sinceGauged.total))
		x.sinceGauged.total, x.sinceGauged.lost = 0, 0
		return max(0, loss)
	})
}
