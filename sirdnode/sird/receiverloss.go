package sird

import (
	"sirdbed/sirdnode/transport"
)

// A receiver infers loss from a time without progress (paper, section 4.4; README,
// Loss and silence). It requests overdue bytes with a RESEND, which is a grant as well.
// When no packet at all arrives from a sender, it reclaims that sender's credit
// with a new epoch. After MaxResends RESENDs in vain it abandons the message.

var (
	resends  = transport.Counter{Name: "resends_asked"}
	reclaims = transport.Counter{Name: "credit_reclaims"}
	abandons = transport.Counter{Name: "inbound_messages_abandoned"}
)

// checkLoss does what is due, in an order that does not depend on how maps are
// laid out. It reports whether there is anything that may be lost.
func (r *receiver) checkLoss(now Time) (pending bool) {
	for _, i := range r.known {
		if i.messages.Len() > 0 || i.outstanding() != 0 {
			pending = true
			r.checkSender(now, i)
		}
	}
	return pending
}

// checkSender reclaims the credit of a silent sender and requests what is overdue.
func (r *receiver) checkSender(now Time, i *inPeer) {
	overdue := i.messages.Select(func(m *inMessage) bool {
		return m.overdue() && now-m.lastProgress >= r.params.LossTimeout
	})
	if now-i.lastPacket >= 2*r.params.LossTimeout && i.granted != i.spent {
		r.reclaim(i)
	}
	for _, m := range overdue {
		r.release(m, m.charged)
		if m.resends >= r.params.MaxResends {
			r.abandonWith(m)
		}
		if i.messages.Find(m.ID) != m {
			continue // abandoned
		}
		m.resends++
		m.lastProgress = now
		r.sendResend(m)
	}
}

// reclaim voids all credit that a sender may still hold, and begins a new epoch
// of its totals.
func (r *receiver) reclaim(i *inPeer) {
	r.outstanding -= Bytes(int32(i.granted - i.spent))
	i.granted, i.spent = 0, 0
	i.epoch = (i.epoch + 1) & 15
	i.silent = true
	r.env.Sink.Count(&reclaims, 1)
}

// sendResend grants and requests the first missing range of m, as much of it as B
// and the cap of one BDP allow, but at least a packet, and no more than that from
// a silent sender.
func (r *receiver) sendResend(m *inMessage) {
	i := m.from
	from, to, ok := m.received.Gap(0, m.granted)
	if !ok {
		return
	}
	room := min(r.size-r.outstanding, r.params.BDP-i.outstanding())
	n := min(to-from, max(1, room/r.frame)*r.mss)
	if i.silent {
		n = min(n, r.mss)
	}
	if !i.epochUncertain() {
		r.charge(i, r.wireOfRange(n))
	}
	r.control.Push(controlPacket{peer: i.id, kind: resend, id: m.ID, offset: from, length: n})
	r.env.Sink.Count(&resends, 1)
}

// abandonWith abandons m, and with it all other messages of a silent sender.
func (r *receiver) abandonWith(m *inMessage) {
	for other := range m.from.messages.All() {
		if other == m || m.from.silent {
			r.env.Sink.Count(&abandons, 1)
			r.abandon(other)
		}
	}
}

// abandon forgets a message that will not be completed.
func (r *receiver) abandon(m *inMessage) {
	r.release(m, m.charged)
	m.from.ungranted.Remove(m)
	m.from.messages.Forget(m.ID)
}

// onBusyPacket takes a sender's BUSY: the message waits for its uplink, or, with
// the gone flag, is not known there.
func (r *receiver) onBusyPacket(now Time, i *inPeer, h *header) {
	i.learnEpoch(h)
	r.replenish(i, h)
	m := i.messages.Find(h.id)
	switch {
	case m == nil:
	case h.flags&gone != 0:
		r.abandon(m)
	default:
		m.lastProgress, m.resends = now, 0
	}
}
