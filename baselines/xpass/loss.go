package xpass

import (
	"fmt"

	"sirdbed/sirdnode/transport"
)

// Only the sender has timers, since it knows which messages are not settled.
// Whatever it repeats, the receiver answers in any state: with BUSY, NACK or ACK,
// or with credits (README, Loss).

var (
	retransmissions = transport.Counter{Name: "retransmissions"}
	repeats         = transport.Counter{Name: "requests_repeated"}
	nacks           = transport.Counter{Name: "nacks_sent"}
)

// setTimer sets the timer of a connection.
func (x *XPass) setTimer(c *outbound, until Time) {
	c.expires = until
	x.timers.Set(c, Bytes(until))
}

// checkTimers does what timers are due for.
func (x *XPass) checkTimers(now Time) {
	for {
		c := x.timers.Top()
		if c == nil || c.expires > now {
			return
		}
		if c.attempts >= x.params.MaxAttempts {
			x.fail(now, c)
			continue
		}
		c.attempts++
		if c.state == requesting || c.state == receiving || x.left(c) == 0 {
			x.env.Sink.Count(&repeats, 1)
		}
		if x.left(c) > 0 {
			x.sendRequest(now, c)
		} else {
			x.sendStop(now, c)
		}
	}
}

// fail gives a message up whose receiver does not answer, and sends it a STOP.
func (x *XPass) fail(now Time, c *outbound) {
	m := c.m
	c.failed = true
	x.queued.Push(queuedPacket{kind: stop, gone: true, peer: c.peer.id, conn: c.conn, id: m.ID})
	reason := fmt.Sprintf("%s did not answer %d attempts, %v apart",
		x.env.Fabric.HostName(m.Peer), c.attempts, x.params.RetransmitTimeout)
	x.end(now, c)
	x.env.Sink.Failed(now, m, reason)
}

// receiveNack puts the missing range up for retransmission, on credit like all
// data.
func (x *XPass) receiveNack(now Time, c *outbound, h *header) {
	from, to := Bytes(h.offset), Bytes(h.offset)+Bytes(h.length)
	to = min(to, c.sent)
	if from%x.mss != 0 || to%x.mss != 0 && to != c.m.Size || from >= to {
		return // malformed
	}
	c.retransmit.from, c.retransmit.to = from, to
	if c.state == stopped {
		x.sendRequest(now, c)
	}
}

// requestMissing sends a NACK for the first range that has not arrived below end,
// up to which the sender has sent; for the same range only once within two round
// trips, unless repeat is set.
func (x *XPass) requestMissing(now Time, c *inbound, end Bytes, repeat bool) {
	from, to := Bytes(0), end
	if m := x.inbox.Find(c.peer.id, c.id); m != nil {
		gapFrom, gapTo, ok := m.Gap(0)
		if !ok {
			return
		}
		from, to = gapFrom, min(gapTo, end)
	}
	if from >= to {
		return
	}
	if !repeat && c.nackFrom == from && now-c.nackAt < 2*Time(c.rtt) {
		return
	}
	c.nackFrom, c.nackAt = from, now
	x.env.Sink.Count(&nacks, 1)
	x.queued.Push(queuedPacket{kind: nack, peer: c.peer.id, conn: c.conn, id: c.id, offset: from, length: to - from})
}
