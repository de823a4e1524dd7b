package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// rank puts a sender in its place in the order in which senders are granted, or
// removes it if it has no message to be granted. Each sender counts with one
// message (README, Grants).
func (h *Homa) rank(now Time, i *inPeer) {
	list := h.receiver.ranking
	switch {
	case i.want.Len() == 0:
		if i.place == 0 {
			return
		}
		at := i.place - 1
		h.receiver.ranking = slices.Delete(list, at, at+1)
		i.place = 0
		for k, j := range h.receiver.ranking[at:] {
			j.place = at + k + 1
		}
		return
	case i.place == 0:
		list = append(list, i)
		h.receiver.ranking = list
		i.place = len(list)
		i.pacer.Pause(now) // no grants are owed for the time before
	}
	at := i.place - 1
	for ; at > 0 && i.before(list[at-1]); at-- {
		list[at] = list[at-1]
		list[at].place = at + 1
	}
	for ; at+1 < len(list) && list[at+1].before(i); at++ {
		list[at] = list[at+1]
		list[at].place = at + 1
	}
	list[at] = i
	i.place = at + 1
}

// nextGrant sends the next GRANT, for one packet, if one of the first k senders
// may have one. If only their pacers forbid it, at is when one will not.
func (h *Homa) nextGrant(now Time, p *transport.Packet) (at Time, ok bool) {
	at = units.Never
	granted := h.receiver.ranking[:min(h.receiver.degree, len(h.receiver.ranking))]
	for rank, i := range granted {
		m := i.want.Top()
		n := min(h.mss, m.toGrant())
		if m.inFlight()+n > h.window {
			continue
		}
		if !i.pacer.Ready(now) {
			at = min(at, i.pacer.At())
			continue
		}
		hd := header{kind: grant, id: m.ID, offset: uint32(m.granted + n), priority: h.scheduledPriority(m, rank, len(granted))}
		hd.encode(p)
		p.Peer = i.id
		if m.inFlight() <= 0 {
			h.heardOf(now, m) // silence begins only now
		}
		i.pacer.Sent(now, h.framing.Wire(n), h.receiver.slack)
		h.raiseGranted(now, m, m.granted+n)
		return 0, true
	}
	return at, false
}

// scheduledPriority returns the priority of the packet granted next to the
// sender of the given rank among those granted: the shortest message has the
// highest level in use, and if there are fewer messages than levels they use
// the lowest, so that a shorter one that arrives later finds a higher one free
// (README, Priorities). The tail of a message may be boosted.
func (h *Homa) scheduledPriority(m *inMessage, rank, granted int) uint8 {
	if h.params.BoostTail > 0 && h.framing.WireOf(m.toGrant()) < h.params.BoostTail {
		return h.unscheduledPriority(m.toGrant())
	}
	return uint8(max(0, min(granted, h.levels)-1-rank))
}
