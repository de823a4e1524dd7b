package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// updateRank moves a sender to its rank in the order of grants, or removes it if
// it has no message to be granted. Each sender is ranked by one message (README,
// Grants).
func (h *Homa) updateRank(now Time, i *inPeer) {
	list := h.receiver.ranking
	switch {
	case i.ungranted.Len() == 0:
		if i.rank == 0 {
			return
		}
		at := i.rank - 1
		h.receiver.ranking = slices.Delete(list, at, at+1)
		i.rank = 0
		for k, j := range h.receiver.ranking[at:] {
			j.rank = at + k + 1
		}
		return
	case i.rank == 0:
		list = append(list, i)
		h.receiver.ranking = list
		i.rank = len(list)
		i.pacer.Pause(now) // the time before now earns no grants
	}
	at := i.rank - 1
	for ; at > 0 && i.precedes(list[at-1]); at-- {
		list[at] = list[at-1]
		list[at].rank = at + 1
	}
	for ; at+1 < len(list) && list[at+1].precedes(i); at++ {
		list[at] = list[at+1]
		list[at].rank = at + 1
	}
	list[at] = i
	i.rank = at + 1
}

// nextGrant sends the next GRANT, for one packet, if one of the first k senders
// may have one. If only their pacers delay it, at is when one will be ready.
func (h *Homa) nextGrant(now Time, p *transport.Packet) (at Time, ok bool) {
	at = units.Never
	granted := h.receiver.ranking[:min(h.receiver.degree, len(h.receiver.ranking))]
	for position, i := range granted {
		m := i.ungranted.Top()
		n := min(h.mss, m.toGrant())
		if m.outstanding()+n > h.rttBytes {
			continue
		}
		if !i.pacer.Ready(now) {
			at = min(at, i.pacer.At())
			continue
		}
		hd := header{
			kind: grant, id: m.ID, offset: uint32(m.granted + n),
			priority: h.scheduledPriority(m, position, len(granted)),
		}
		hd.encode(p)
		p.Peer = i.id
		if m.outstanding() <= 0 {
			h.markProgress(now, m) // nothing was expected before
		}
		i.pacer.Sent(now, h.framing.Wire(n), h.receiver.slack)
		h.raiseGranted(now, m, m.granted+n)
		return 0, true
	}
	return at, false
}

// scheduledPriority returns the priority of the packet granted next to the
// sender of the given rank, from 0, of those granted. The shortest message has
// the highest level in use. Fewer messages than levels use the lowest ones, so
// that a shorter message that comes later finds a higher level free (README,
// Priorities). The tail of a message may be boosted.
func (h *Homa) scheduledPriority(m *inMessage, rank, granted int) uint8 {
	if h.params.BoostTail > 0 && h.framing.WireOf(m.toGrant()) < h.params.BoostTail {
		return h.unscheduledPriority(m.toGrant())
	}
	return uint8(max(0, min(granted, h.levels)-1-rank))
}
