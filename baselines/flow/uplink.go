package flow

// A host's NIC takes one packet at a time, so data that a window allows waits in
// its connection and not in a queue at the uplink. The released simulator has such
// a queue, and it marks like those of switches (simulation.tcl gives both ends of
// a host's link the same queue). Without its marks, a connection that is alone on
// its path sees no congestion: its window grows to the cap, and when a second
// connection meets it at a receiver, all of that ends up in the switch. So the
// queue is counted, and data that leaves at a depth of Config.UplinkMark or more
// leaves marked (README, Uplink queue).

// updateQueued recomputes a connection's part of the queue: what its window allows
// of what it has left, in IP bytes of data packets.
func (t *Transport) updateQueued(c *connection) {
	if t.config.UplinkMark == 0 {
		return
	}
	n := 0
	if c.busy {
		n = max(0, min(c.segments.Left(), int(c.control.Window())-c.segments.InFlight()))
	}
	bytes := Bytes(n) * t.frame
	if n == 1 {
		bytes = min(bytes, c.message.Size+t.frame-t.mss)
	}
	t.queued += bytes - c.queued
	c.queued = bytes
}

// uplinkMarks reports whether the packet that leaves the queue now is marked.
func (t *Transport) uplinkMarks() bool {
	return t.config.UplinkMark > 0 && t.queued >= t.config.UplinkMark
}
