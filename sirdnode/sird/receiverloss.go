package sird

import (
	"maps"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
)

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
		i.lastProgress, i.shownAt, i.probes = now, now, 0
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

// An unnamed message was requested, and waits for credit. If that takes longer its sender is
// told that it is known.
type unnamed struct {
	m   *inMessage
	due Time
}

// learn notes that a message is known.
func (r *receiver) learn(now Time, m *inMessage) {
	i := m.from
	if floor := i.messages.Floor(); int32(i.known-floor) < 0 {
		i.known = floor
	}
	for i.messages.Find(i.known) != nil || i.messages.IsDone(i.known) {
		i.known++
	}
	if m.prefix == 0 {
		r.unnamed.Push(unnamed{m.list(), now + 2*r.round})
	}
}

// nameWaiting tells senders of requests that have waited, one BUSY for all up to the last.
func (r *receiver) nameWaiting(now Time) {
	for r.unnamed.Len() > 0 && r.unnamed.Front().due <= now {
		u, _ := r.unnamed.Pop()
		if m := u.m; !m.closed && !m.complete && !m.named && int32(m.ID-m.from.told) >= 0 {
			m.named, m.from.told = true, m.from.known
			r.sendBusy(m)
		}
		r.unlist(u.m)
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

// mostRemains is of how many abandoned messages of a sender the receiver remembers what had
// arrived.
const mostRemains = 1000

// abandon forgets a message that will not be completed, but for which of its bytes the application
// has had: if it begins again they are not handed over again.
func (r *receiver) abandon(m *inMessage) {
	r.release(m, m.charged)
	r.forget(m)
	i := m.from
	if m.received.Total() > 0 {
		if i.remains == nil {
			i.remains = map[transport.MessageID]account.Spans{}
		}
		if len(i.remains) >= mostRemains {
			maps.DeleteFunc(i.remains, func(id transport.MessageID, _ account.Spans) bool {
				return i.messages.IsDone(id)
			})
		}
		if len(i.remains) < mostRemains {
			i.remains[m.ID] = m.received
			m.received = account.Spans{}
		}
	}
	if int32(m.ID-i.known) < 0 {
		i.known, i.told, i.forgot = m.ID, m.ID, true
	}
}
