package flow

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A host's NIC takes one packet at a time, so data that a window allows waits in
// its connection and not in a queue at the uplink. The released simulator has such
// a queue, and it marks like those of switches (simulation.tcl gives both ends of
// a host's link the same queue). Without its marks, a connection that is alone on
// its path sees no congestion: its window grows to the cap, and when a second
// connection meets it at a receiver, all of that ends up in the switch. So the
// queue is counted, and data that leaves at a depth of Config.UplinkMark or more
// leaves marked (README, Uplink queue).
//
// Packets wait in that queue, too, and a round trip that begins where the window
// lets them out has the wait in it. With Config.UplinkWait it is kept for every
// segment since when its window has allowed it, and with Config.UplinkFIFO data leaves
// in that order.

// An allowance is segments that window and pacing allow from the same time on.
type allowance struct {
	since Time
	n     int
}

// updateQueued recomputes a connection's part of the queue: what its window and
// pacing allow of what it has left, in IP bytes of data packets.
func (t *Transport) updateQueued(now Time, c *connection) {
	timed := t.config.UplinkWait || t.config.UplinkFIFO
	if t.config.UplinkMark == 0 && !timed {
		return
	}
	n := 0
	if c.busy {
		n = max(0, min(c.segments.Left(), max(1, int(c.control.Window()))-c.segments.InFlight()))
	}
	until := t.paced(now, c)
	if timed {
		if until < units.Never {
			c.allow(now, 0)
			c.allow(until, n)
		} else {
			c.allow(now, n)
		}
	}
	if t.config.UplinkMark == 0 {
		return
	}
	if until < units.Never {
		n = 0
	}
	bytes := Bytes(n) * t.frame
	if n == 1 {
		bytes = min(bytes, c.message.Size+t.frame-t.mss)
	}
	t.queued += bytes - c.queued
	c.queued = bytes
}

// allow keeps since when segments may be sent, of which there are n now. If they have
// become fewer, those that were allowed last have to wait for another time.
func (c *connection) allow(now Time, n int) {
	if more := n - c.allowed; more > 0 {
		c.allowances.Push(allowance{now, more})
	} else {
		for i := c.allowances.Len() - 1; more < 0; i-- {
			a := c.allowances.At(i)
			less := min(a.n, -more)
			a.n -= less
			more += less
		}
	}
	if c.allowed = n; n == 0 {
		c.allowances.Reset()
	}
}

// waited returns for how long the segment that is sent now was allowed, and takes it
// from the allowances.
func (c *connection) waited(now Time) Time {
	for c.allowances.Len() > 0 {
		if a := c.allowances.Front(); a.n > 0 {
			a.n--
			c.allowed--
			return max(0, now-a.since)
		}
		c.allowances.Pop()
	}
	return 0
}

// allowedSince returns since when the next segment may be sent, now if none may.
func (c *connection) allowedSince(now Time) Time {
	for c.allowances.Len() > 0 {
		if a := c.allowances.Front(); a.n > 0 {
			return a.since
		}
		c.allowances.Pop()
	}
	return now
}

// nextInOrder sends the segment that has been allowed for the longest.
func (t *Transport) nextInOrder(now Time, p *transport.Packet) bool {
	for c := t.order.Top(); c != nil; c = t.order.Top() {
		if !t.maySend(now, c) {
			t.order.Remove(c)
			continue
		}
		t.transmit(now, c, p)
		t.order.Set(c, Bytes(c.allowedSince(now)))
		return true
	}
	return false
}

// uplinkMarks reports whether the packet that leaves the queue now is marked.
func (t *Transport) uplinkMarks() bool {
	return t.config.UplinkMark > 0 && t.queued >= t.config.UplinkMark
}
