package flow

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

// A connection is the sending end of one connection of a pool. It carries one
// message at a time; path, round-trip estimate and congestion state remain from
// one message to the next (README, Connections).
type connection struct {
	peer    *outPeer
	number  uint8
	entropy uint16
	control Controller

	message  transport.Message
	busy     bool
	segments Segments
	rtt      RTT

	inReady     bool       // in Transport.ready
	slot        queue.Slot // in Transport.timers
	place       queue.Slot // in Transport.order
	timerAt     Time       // its key there: no later than resendAt and paceAt
	resendAt    Time       // retransmission timeout; units.Never when nothing is in flight
	paceAt      Time       // when pacing allows the next segment; units.Never when none waits for that
	lastSent    Time
	timeouts    int    // in a row
	recoveryEnd uint64 // number of the transmission that ends recovery from loss
	queued      Bytes  // part of Transport.queued

	allowances queue.FIFO[allowance] // segments that window and pacing allow, since when
	allowed    int                   // their number
}

// An outPeer is what a sender knows of one receiver.
type outPeer struct {
	id          transport.HostID
	pool        *Pool[connection]
	connections []*connection
}

var (
	retransmissions = transport.Counter{Name: "retransmissions"}
	timeouts        = transport.Counter{Name: "timeouts"}
)

func (t *Transport) outPeer(id transport.HostID) *outPeer {
	o := t.peers[id]
	if o == nil {
		o = &outPeer{id: id}
		o.pool = NewPool(t.config.Connections, func(n int) *connection {
			c := &connection{
				peer: o, number: uint8(n), entropy: uint16(t.env.Rand.Uint32()),
				control: t.config.Controller(id), segments: NewSegments(t.mss),
				resendAt: units.Never, paceAt: units.Never, lastSent: -1 << 62,
			}
			o.connections = append(o.connections, c)
			return c
		})
		t.peers[id] = o
	}
	return o
}

// Send implements transport.Transport.
func (t *Transport) Send(now Time, m transport.Message) {
	o := t.outPeer(m.Peer)
	if !t.env.Fits(now, m, layout.MaxMessage) {
		o.pool.Skip(m.ID)
		return
	}
	if c := o.pool.Add(m); c != nil {
		t.begin(now, c, m)
	}
}

// begin assigns a message to a connection.
func (t *Transport) begin(now Time, c *connection, m transport.Message) {
	c.message, c.busy, c.timeouts = m, true, 0
	c.segments.Begin(m.Size)
	c.control.OnMessage(now)
	t.activate(now, c)
}

// end ends a connection's message, and begins the next one if one waits.
func (t *Transport) end(now Time, c *connection) {
	c.busy = false
	c.resendAt, c.paceAt = units.Never, units.Never
	t.timers.Remove(c)
	t.updateQueued(now, c)
	c.peer.pool.Settle(c.message.ID)
	if m, ok := c.peer.pool.Release(c); ok {
		t.begin(now, c, m)
	}
}

// activate lists a connection among those that may have something to send from now on.
func (t *Transport) activate(now Time, c *connection) {
	t.sleep.End()
	t.updateQueued(now, c)
	if t.config.UplinkFIFO {
		t.order.Set(c, Bytes(c.allowedSince(now)))
		return
	}
	if !c.inReady {
		c.inReady = true
		t.ready.Push(c)
	}
}

// maySend reports whether window and pacing allow the next segment. If only pacing
// does not, it sets the timer for when it will.
func (t *Transport) maySend(now Time, c *connection) bool {
	c.paceAt = units.Never
	if !c.busy || c.segments.Left() == 0 || c.segments.InFlight() >= max(1, int(c.control.Window())) {
		return false
	}
	if c.paceAt = t.paced(now, c); c.paceAt < units.Never {
		t.arm(c)
		return false
	}
	return true
}

// paced returns until when pacing holds the next segment back, units.Never if it
// does not.
func (t *Transport) paced(now Time, c *connection) Time {
	if gap := c.control.Pacing(); gap > 0 && c.lastSent+gap > now {
		return c.lastSent + gap
	}
	return units.Never
}

// nextData sends a segment of the next connection in turn that may send, or of the one
// that has been allowed to for the longest.
func (t *Transport) nextData(now Time, p *transport.Packet) bool {
	if t.config.UplinkFIFO {
		return t.nextInOrder(now, p)
	}
	for {
		c, ok := t.ready.Pop()
		if !ok {
			return false
		}
		if t.maySend(now, c) {
			t.ready.Push(c)
			t.transmit(now, c, p)
			return true
		}
		c.inReady = false
	}
}

func (t *Transport) transmit(now Time, c *connection, p *transport.Packet) {
	p.CE = t.uplinkMarks()
	if c.segments.InFlight() == 0 {
		c.resendAt = now + c.rtt.Timeout(t.config.MinRTO, c.timeouts)
	}
	waited := c.waited(now)
	if !t.config.UplinkWait {
		waited = 0
	}
	offset, n, retransmission, _ := c.segments.Send(now, waited)
	if retransmission {
		t.env.Sink.Count(&retransmissions, 1)
	}
	c.lastSent = now
	t.updateQueued(now, c)
	m := &c.message
	h := header{
		kind: data, connection: c.number, id: m.ID, offset: uint32(offset), stamp: uint32(now),
		length: uint32(m.Size), tag: m.Tag, aboveFloor: c.peer.pool.AboveFloor(m.ID),
	}
	h.encode(p)
	p.Peer, p.Entropy = c.peer.id, c.entropy
	p.ID, p.Tag, p.Offset, p.PayloadLen = m.ID, m.Tag, offset, int(n)
	t.arm(c)
}

// arm sets the connection's timer to no later than resendAt and paceAt.
func (t *Transport) arm(c *connection) {
	if at := min(c.resendAt, c.paceAt); at < units.Never && (!c.slot.In() || at < c.timerAt) {
		c.timerAt = at
		t.timers.Set(c, Bytes(at))
	}
}

// checkTimers does what timers are due for.
func (t *Transport) checkTimers(now Time) {
	for c := t.timers.Top(); c != nil && c.timerAt <= now; c = t.timers.Top() {
		t.timers.Remove(c)
		if c.resendAt <= now {
			t.timeout(now, c)
		}
		if c.paceAt <= now {
			c.paceAt = units.Never
			t.activate(now, c)
		}
		t.arm(c)
	}
}

// timeout takes everything in flight for lost, or gives the message up.
func (t *Transport) timeout(now Time, c *connection) {
	c.resendAt = units.Never
	c.timeouts++
	t.env.Sink.Count(&timeouts, 1)
	if c.timeouts > t.config.MaxTimeouts {
		m := c.message
		c.segments.LoseAll()
		c.control.OnTimeout(now, c.timeouts)
		t.end(now, c)
		t.env.Sink.Failed(now, m, fmt.Sprintf("%s did not acknowledge in %d retransmission timeouts in a row",
			t.env.Fabric.HostName(c.peer.id), t.config.MaxTimeouts+1))
		return
	}
	c.segments.LoseAll()
	c.recoveryEnd = c.segments.NextTransmission()
	c.control.OnTimeout(now, c.timeouts)
	t.activate(now, c)
}

// receiveAck takes an acknowledgement.
func (t *Transport) receiveAck(now Time, h *header, p *transport.Packet) {
	o := t.peers[p.Peer]
	if o == nil || int(h.connection) >= len(o.connections) {
		return
	}
	c := o.connections[h.connection]
	if !c.busy || c.message.ID != h.id {
		return
	}
	s := &c.segments
	inFlight := s.InFlight()
	fresh := s.Arrived(Bytes(h.offset), h.stamp)
	for _, r := range h.ranges[:h.n] {
		fresh += s.ArrivedRange(Bytes(r.from), Bytes(r.to), h.stamp)
	}
	if fresh == 0 {
		return
	}
	rtt := Time(uint32(p.Arrived) - h.stamp)
	c.rtt.Sample(rtt)
	c.timeouts = 0
	rtt += s.Waited()
	c.control.OnAck(now, Ack{
		Segments: fresh, Marked: h.echo, InFlight: inFlight, Delay: max(rtt-Time(h.ackDelay), 1), RTT: rtt,
		Highest: s.Highest(), Next: s.NextTransmission(), Recovering: s.Highest() < c.recoveryEnd,
	})
	if s.Done() {
		m := c.message
		t.end(now, c)
		t.env.Sink.Acked(now, m)
		return
	}
	if n, end := s.Lost(); n > 0 && end > c.recoveryEnd {
		c.recoveryEnd = s.NextTransmission()
		c.control.OnLoss(now)
	}
	c.resendAt = units.Never
	if s.InFlight() > 0 {
		c.resendAt = now + c.rtt.Timeout(t.config.MinRTO, 0)
		t.arm(c)
	}
	t.activate(now, c)
}
