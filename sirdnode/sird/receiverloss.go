package sird

import "sirdbed/sirdnode/transport"

// What the sender of a message says of it, and messages that will not be completed.

var (
	resends  = transport.Counter{Name: "resends_asked"}
	abandons = transport.Counter{Name: "inbound_messages_abandoned"}
)

// onBusyPacket takes a sender's BUSY: how much it has spent, which credit it knows of, and
// how much of the message it has sent; or, with the gone flag, that the message is not known
// there.
func (r *receiver) onBusyPacket(now Time, i *inPeer, h *header) {
	i.learnEpoch(h)
	r.arrives(now, i)
	r.replenish(now, i, h)
	if h.epoch == i.epoch {
		i.lastProgress, i.probes = now, 0
		if more := Bytes(int32(h.offset - i.seen)); more > 0 && more <= Bytes(int32(i.granted-i.seen)) {
			i.seen = h.offset
			r.progress(now, i)
		}
	}
	m := i.messages.Find(h.id)
	switch {
	case m == nil || m.complete:
	case h.flags&gone != 0:
		r.abandon(m)
	default:
		m.progress(now)
		if sent := min(Bytes(h.length), m.Size); sent > m.high {
			r.suspect(now, m, stretch{m.high, sent})
			m.high = sent
		}
		if sent := Bytes(h.length); sent < m.granted && sent >= m.prefix && h.epoch == i.epoch && i.credit() == 0 {
			m.granted = sent // the credit for more went elsewhere, or was reclaimed
			r.activate(m)
		}
	}
}

// abandonWith abandons m, and with it all other messages of a sender that is silent.
func (r *receiver) abandonWith(m *inMessage) {
	for other := range m.from.messages.All() {
		if other == m || m.from.suspended {
			r.env.Sink.Count(&abandons, 1)
			r.abandon(other)
		}
	}
}

// abandon forgets a message that will not be completed.
func (r *receiver) abandon(m *inMessage) {
	r.release(m, m.charged)
	r.forget(m)
}
