//go:build linux

package node

import (
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// links are what the timeline of faults does to frames at the host's end of its link: to
// what leaves before the host's port takes it, as of when it leaves, and to what has
// arrived as of when that was. Rates of ports, and of the wires behind them, are the
// controller's. A nil links does nothing.
type links struct {
	up, down *fault.Line
	rate     units.BitsPerSecond // of the uplink, by the topology

	// Frames that the link has delayed or repeated: that are to leave, that are to arrive,
	// and when the last of those in order is.
	held, late           *fault.DelayLine
	heldUntil, lateUntil units.Time

	paused bool  // the host is
	missed int64 // frames that it did not take, paused or dead
}

// newLinks returns the links of a host, nil where the timeline has nothing for it.
func newLinks(t fault.Timeline, f *topo.Fabric, self topo.HostID, seed uint64) *links {
	up := f.Uplink(self)
	l := &links{up: t.NewLine(f, up.ID, seed), down: t.NewLine(f, up.Reverse, seed), rate: up.Rate}
	if l.up == nil && l.down == nil && len(t.Outages(f, self)) == 0 {
		return nil
	}
	frame := int(f.Spec.MTU) + wire.EthernetLen
	l.held, l.late = fault.NewDelayLine(delayedFrames, frame), fault.NewDelayLine(delayedFrames, frame)
	return l
}

// due returns when a frame that the link has delayed leaves or arrives.
func (l *links) due() units.Time {
	if l == nil {
		return units.Never
	}
	return min(l.held.Due(), l.late.Due())
}

// pace has the NIC go at the uplink's rate.
func (l *links) pace(at units.Time, h *host.Host) {
	if l == nil || l.up == nil {
		return
	}
	rate := l.up.At(at).Rate
	if rate == 0 {
		rate = l.rate
	}
	h.SetRate(rate)
}

// leaves lets the uplink decide about a frame that the host sends, and reports whether the
// port is to take it now.
func (n *nic) leaves(at units.Time, frame []byte) bool {
	l := n.links
	v, extra := l.up.Next(at, len(frame)), l.up.At(at).Extra
	n.counts.Sent++
	if v.Drop {
		n.counts.Cut++
		return false
	}
	due := max(at+extra, l.heldUntil)
	l.heldUntil = due
	if v.FlipBit >= 0 {
		fault.Flip(frame, v.FlipBit)
		n.counts.Flipped++
	}
	if v.Duplicate {
		n.counts.Sent++
		if v.FlipBit >= 0 {
			n.counts.Flipped++
		}
		n.hold(due+v.Delay, frame)
		v.Delay = 0
	}
	if due += v.Delay; due > at {
		n.hold(due, frame)
		return false
	}
	n.counts.Sent-- // the caller counts it
	return true
}

// hold keeps a frame that is to leave later.
func (n *nic) hold(due units.Time, frame []byte) {
	if !n.links.held.Put(due, frame) {
		n.counts.Cut++
	}
}

// arrived returns the frame that arrives first, if it has by now, and when it did. What is
// to leave by now leaves.
func (n *nic) arrived(now units.Time) (frame []byte, at units.Time, ok bool) {
	l := n.links
	if l == nil {
		return n.delayed.Take(now)
	}
	for {
		frame, _, ok := l.held.Take(now)
		if !ok {
			break
		}
		n.send(frame)
	}
	if l.late.Due() <= n.delayed.Due() {
		return l.late.Take(now)
	}
	if frame, at, ok = n.delayed.Take(now); !ok {
		return nil, 0, false
	}
	v := l.down.Next(at, len(frame))
	if v.Drop {
		return nil, 0, false
	}
	if v.FlipBit >= 0 {
		fault.Flip(frame, v.FlipBit)
		n.counts.Flipped++
	}
	due := max(at+l.down.At(at).Extra, l.lateUntil)
	if v.Duplicate {
		n.later(due+v.Delay, frame, v.FlipBit >= 0)
		v.Delay = 0
	}
	l.lateUntil = due
	if due += v.Delay; due == at {
		return frame, at, true
	}
	n.later(due, frame, false)
	return nil, 0, false
}

// later keeps a frame that is to arrive later. Of a damaged one it may be a second copy.
func (n *nic) later(due units.Time, frame []byte, damaged bool) {
	switch {
	case !n.links.late.Put(due, frame):
		n.counts.Drops++
	case damaged:
		n.counts.Flipped++
	}
}

// send hands a frame that was held to the port. One that has no room is lost.
func (n *nic) send(frame []byte) {
	if n.credits != nil && frame[wire.EthernetLen+1]&wire.CreditTOS != 0 {
		copy(n.credits.buf[:], frame)
		if n.credits.send(len(frame)) != nil {
			n.counts.Cut++
		}
		return
	}
	buf := n.socket.Reserve()
	if buf == nil {
		n.counts.Cut++
		return
	}
	n.socket.Commit(copy(buf, frame))
}

// endHolding loses what is still to leave: the host sends nothing more.
func (n *nic) endHolding() {
	if n.links == nil {
		return
	}
	for {
		if _, _, ok := n.links.held.Take(units.Never); !ok {
			return
		}
		n.counts.Cut++
	}
}

// noRoom counts a frame for which the delay queue has no room: that of a paused host is
// as large as a NIC's ring.
func (n *nic) noRoom() {
	if n.links != nil && n.links.paused {
		n.links.missed++
		return
	}
	n.counts.Drops++
}

// miss loses the frames that have arrived by now, at a dead host.
func (n *nic) miss(now units.Time) {
	for n.due() <= now {
		if _, _, ok := n.arrived(now); ok {
			n.links.missed++
		}
	}
}

// faults counts what the fault shim and the timeline have done.
func (n *nic) faults() fault.Counters {
	c := n.shim.Counters()
	if l := n.links; l != nil {
		d := l.down.Counters()
		c.Dropped += d.Dropped + uint64(l.missed)
		c.Duplicated += d.Duplicated
	}
	return c
}
