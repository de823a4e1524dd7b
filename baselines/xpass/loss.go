package xpass

import (
	"fmt"

	"sirdbed/sirdnode/transport"
)

// Only the sender has timers, since it knows that a message is not done.
// Whatever it repeats, the receiver answers in any state, with BUSY, NACK or
// ACK, or with credits (README, Loss).

var (
	retransmissions = transport.Counter{Name: "retransmissions"}
	repeats         = transport.Counter{Name: "requests_repeated"}
	nacks           = transport.Counter{Name: "nacks_sent"}
)

// wait sets the timer of a connection.
func (x *XPass) wait(c *outbound, until Time) {
	c.expires = until
	x.timers.Set(c, Bytes(until))
}

// expire does what is due at the sending half.
func (x *XPass) expire(now Time) {
	for {
		c := x.timers.Top()
		if c == nil || c.expires > now {
			return
		}
		if c.tries >= x.params.MaxAttempts {
			x.giveUp(now, c)
			continue
		}
		c.tries++
		if c.state == asking || c.state == receiving || x.left(c) == 0 {
			x.env.Sink.Count(&repeats, 1)
		}
		if x.left(c) > 0 {
			x.ask(now, c)
		} else {
			x.stop(now, c)
		}
	}
}

// giveUp fails a message whose receiver does not answer, and tells the
// receiver.
func (x *XPass) giveUp(now Time, c *outbound) {
	m := c.m
	c.failed = true
	x.out.Push(note{kind: stop, gone: true, peer: c.peer.id, conn: c.conn, id: m.ID})
	reason := fmt.Sprintf("%s did not answer %d attempts, %v apart", x.env.Fabric.HostName(m.Peer), c.tries, x.params.RetransmitTimeout)
	x.end(now, c)
	x.env.Sink.Failed(now, m, reason)
}

// receiveNack has the missing range sent again, on credits like all data.
func (x *XPass) receiveNack(now Time, c *outbound, h *header) {
	from, to := Bytes(h.offset), Bytes(h.offset)+Bytes(h.length)
	to = min(to, c.sent)
	if from%x.mss != 0 || to%x.mss != 0 && to != c.m.Size || from >= to {
		return // makes no sense
	}
	c.again.from, c.again.to = from, to
	if c.state == stopped {
		x.ask(now, c)
	}
}

// missing asks for the first range below end, up to which the sender is known
// to have sent, that has not arrived; unless again is set, not for the same one
// twice within two round trips.
func (x *XPass) missing(now Time, c *inbound, end Bytes, again bool) {
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
	if !again && c.nackFrom == from && now-c.nackAt < 2*Time(c.rtt) {
		return
	}
	c.nackFrom, c.nackAt = from, now
	x.env.Sink.Count(&nacks, 1)
	x.out.Push(note{kind: nack, peer: c.peer.id, conn: c.conn, id: c.id, offset: from, length: to - from})
}
