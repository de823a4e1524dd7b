package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// sendCredit is Algorithm 1, lines 8 to 14 (onSendCreditTick): it sends the next
// CREDIT, if the pacer, B and the senders' buckets allow one. When only the pacer
// does not, at is when it will.
func (r *receiver) sendCredit(now Time, p *transport.Packet) (at Time, ok bool) {
	m := r.selectMessage() // lines 9 and 10
	if m == nil {
		return units.Never, false
	}
	if !r.pacer.Ready(now) {
		return r.pacer.At(), false
	}
	senior := r.oldest()
	if senior != nil {
		m = senior
	}
	i := m.from
	h := header{kind: credit, id: m.ID}
	wire := r.grant(now, m, &h) // lines 11 and 13
	r.pacer.Sent(now, wire, units.Nanosecond)
	r.seniority.granted(wire, r.params.BDP, senior != nil)
	r.turns++
	i.turn = r.turns
	r.place(i)

	i.stamp(&h) // line 12
	p.Peer = i.id
	r.ride(&h, p)
	r.address(&h, i.id)
	h.encode(p)
	r.forgetIfDone(m)
	return 0, true
}

// activate puts a message where the policy finds it, or moves it there: by bytes
// still to arrive under SRPT, by arrival under round robin.
func (r *receiver) activate(m *inMessage) {
	i := m.from
	switch {
	case r.params.ReceiverPolicy != "round_robin":
		i.ungranted.Set(m, m.remaining())
	case !m.slot.In():
		i.ungranted.Set(m, 0)
	}
}

// place puts a sender where the policy finds it, if its bucket has room for what it would be
// credited next. It follows whatever changes that, which is only ever of this one sender: so a
// grant costs the same with few senders and with many.
func (r *receiver) place(i *inPeer) {
	m := i.ungranted.Top()
	for m != nil && !m.needsCredit() {
		i.ungranted.Remove(m)
		m = i.ungranted.Top()
	}
	in, out := &r.full, &r.short
	switch {
	case m == nil || !r.fitsBucket(m):
		r.full.Remove(i)
		r.short.Remove(i)
		return
	case r.nextGrant(m) < r.mss:
		in, out = out, in
	}
	out.Remove(i)
	in.Set(i, r.rank(m))
}

// rank is the policy between the messages of two senders: the lower goes first.
func (r *receiver) rank(m *inMessage) Bytes {
	first := m.remaining()
	if r.params.ReceiverPolicy == "round_robin" {
		first = Bytes(m.from.turn)
	}
	return first*Bytes(len(r.peers)) + Bytes(m.from.id)
}

// selectMessage returns the message that the policy credits next, nil when none
// may be credited. Under SRPT a smaller packet may take what is left of B. Under round robin
// the turn waits for room in B, so that large packets do not starve.
func (r *receiver) selectMessage() *inMessage {
	best, short := r.full.Top(), r.short.Top()
	if r.params.ReceiverPolicy != "round_robin" {
		if best != nil && !r.fitsB(best.ungranted.Top()) {
			best = nil
		}
		if short != nil && !r.fitsB(short.ungranted.Top()) {
			short = r.firstThatFits()
		}
	}
	if best == nil || short != nil && r.rank(short.ungranted.Top()) < r.rank(best.ungranted.Top()) {
		best = short
	}
	if best == nil || !r.fitsB(best.ungranted.Top()) {
		return nil
	}
	return best.ungranted.Top()
}

// firstThatFits returns the first sender of those whose next packet is short that has room in B,
// nil if none has.
func (r *receiver) firstThatFits() (best *inPeer) {
	if r.outstanding+r.wireOf(1) > r.size {
		return nil
	}
	for k := range r.short.Len() {
		i := r.short.At(k)
		if r.fitsB(i.ungranted.Top()) && (best == nil || r.rank(i.ungranted.Top()) < r.rank(best.ungranted.Top())) {
			best = i
		}
	}
	return best
}

// fitsB reports whether B has room for the next packet of m.
func (r *receiver) fitsB(m *inMessage) bool {
	return r.outstanding+r.wireOfRange(r.nextGrant(m)) <= r.size
}

// fitsBucket reports whether the sender's bucket and the cap of one BDP have room
// for the next packet of m. By default the bucket is compared before adding, else
// one smaller than a frame would never grant again (README, Crediting). A doubtful sender
// gets a packet's if it has none.
func (r *receiver) fitsBucket(m *inMessage) bool {
	i := m.from
	wire := r.wireOfRange(r.nextGrant(m))
	out := i.outstanding()
	if out+wire > i.most() || i.credit() > 0 && r.doubtful(i) || i.epochUncertain() {
		return false
	}
	if r.params.BucketCheck == "after" {
		return out+wire <= i.bucket()
	}
	return out <= i.bucket()
}

// needsCredit reports whether bytes of m are lost, or were never granted.
func (m *inMessage) needsCredit() bool {
	return m.waits() || m.granted < m.Size
}

// nextGrant returns the payload of m's next grant: one packet of what is lost, or else
// credit_packets of them, but no more than a quarter of the BDP, and one to a sender that may be
// dead.
func (r *receiver) nextGrant(m *inMessage) Bytes {
	if lost, ok := m.firstLost(); ok {
		return min(r.mss, lost.to-lost.from)
	}
	if r.doubtful(m.from) {
		return min(r.mss, m.Size-m.granted)
	}
	return min(r.stride, m.Size-m.granted)
}

// grant charges m's next grant, and returns its wire bytes. What is lost is requested by
// a RESEND. The loss timeout runs from the first packet that is due.
func (r *receiver) grant(now Time, m *inMessage, h *header) Bytes {
	i, n := m.from, r.nextGrant(m)
	wire := r.wireOfRange(n)
	r.charge(i, wire)
	if lost, ok := m.firstLost(); ok {
		m.lost.Front().from += n
		m.asked = true
		h.kind, h.offset, h.length = resend, uint32(lost.from), uint32(n)
		i.wanted.Push(wanted{m.list(), stretch{lost.from, lost.from + n}, i.granted})
		r.env.Sink.Count(&resends, 1)
	} else {
		m.granted += n
	}
	i.lastGranted, m.named = m.ID, true
	if !m.needsCredit() {
		i.ungranted.Remove(m)
	}
	r.watch(now, m)
	return wire
}

// charge counts wire bytes as granted to a sender.
func (r *receiver) charge(i *inPeer, wire Bytes) {
	i.granted += uint32(wire)
	if !i.suspended {
		r.outstanding += wire
	}
}
