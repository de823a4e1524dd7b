package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// receiver is the receiving role of a host: Algorithm 1.
type receiver struct {
	*endpoint
	peers []*inPeer // by HostID, nil before their first packet
	known []*inPeer // the same, in the order of their first packets

	// activeSenders: those with a message that needs more credit and has room in its bucket for it, in the order of the
	// policy, by whether the next packet is full.
	full, short queue.Heap[inPeer]

	size        Bytes // B
	outstanding Bytes // b: credit out to all senders, and unscheduled bytes expected

	seniority seniority

	pacer timer.Pacer
	turns uint64 // grants so far, which order senders under round robin

	unnamed    queue.FIFO[unnamed] // requests without an answer, by due
	suspects   queue.FIFO[suspect]
	patience   Time                  // without progress, until a sender is asked
	unfinished queue.Heap[inMessage] // of which bytes are missing that may have been sent, by due
	indebted   queue.Heap[inPeer]    // with credit out, by due
	latest     [2]arrival            // of scheduled data, of two senders
	asked      int                   // senders that were looked at for want of another's answer

	suspended   int  // senders whose credit is
	silentSince Time // when the last of them was first asked in vain

	prefixes queue.FIFO[prefix] // charged, in the order of their first packets
	drainPS  int64              // when all of them have come over the downlink, in ps
	flowing  Time               // when unscheduled bytes last arrived

	spare queue.Free[inMessage]
}

// gaugedHosts is the size of fabric up to which each sender's bucket is a gauge
// of its own.
const gaugedHosts = 16

func newReceiver(e *endpoint) receiver {
	rate := float64(e.env.Fabric.Downlink(e.env.Self).Rate) * e.params.CreditRate
	ready := func(i *inPeer) *queue.Slot { return &i.ready }
	r := receiver{
		full:       queue.NewHeap(ready),
		short:      queue.NewHeap(ready),
		endpoint:   e,
		peers:      make([]*inPeer, len(e.env.Fabric.Hosts)),
		size:       e.params.B.of(e.params.BDP),
		pacer:      timer.Pacer{Rate: units.BitsPerSecond(rate)},
		patience:   patience * e.round,
		unfinished: queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.timer }),
		indebted:   queue.NewHeap(func(i *inPeer) *queue.Slot { return &i.timer }),
	}
	r.seniority.share = e.params.OldestShare
	if e.params.LossDetection == "silence" {
		r.patience = e.params.LossTimeout
	}
	return r
}

// peer returns the state of a sender, new with its first packet.
func (r *receiver) peer(id transport.HostID) *inPeer {
	i := r.peers[id]
	if i == nil {
		i = newInPeer(id, r.endpoint)
		i.tolerance = r.leastTolerance(id)
		r.peers[id] = i
		r.known = append(r.known, i)
		if len(r.env.Fabric.Hosts) <= gaugedHosts {
			name := r.env.Fabric.HostName(id)
			r.env.Sink.Gauge("bucket/"+name, func() float64 { return float64(i.bucket()) })
			r.env.Sink.Gauge("credit_out/"+name, func() float64 { return float64(i.outstanding()) })
		}
	}
	return i
}

// onDataPacket is Algorithm 1, lines 1 to 7: a scheduled packet brings credit back,
// and both loops take the marks. Credit of unscheduled bytes comes back in
// onPayload: their packets may overtake scheduled ones, whose credit is still out.
func (r *receiver) onDataPacket(now Time, i *inPeer, h *header, p *transport.Packet) {
	i.learnEpoch(h)
	if h.kind == data {
		r.arrives(now, i)
		r.replenish(now, i, h) // lines 2 to 4
	}
	i.sample(&r.params, p.CE, h.flags&csn != 0) // lines 5 and 6

	if h.kind == unscheduled {
		i.messages.RaiseFloor(h.id, h.aboveFloor, nil)
	}
	if !r.wellCut(h, p) {
		return
	}
	m := i.messages.Find(h.id)
	switch {
	case m == nil && i.messages.IsDone(h.id) || m != nil && m.complete:
		r.repeat(i, h.id)
		return
	case m == nil:
		m = r.begin(now, i, h)
		if i.epochUncertain() { // BUSY carries the epoch
			r.sendBusy(m)
		}
	case m.Size != Bytes(h.length):
		return
	case h.flags&request != 0: // announced again
		r.sendBusy(m)
	}
	if p.PayloadLen > 0 {
		r.onPayload(now, m, h, p)
	}
}

// learnEpoch takes over the epoch that a sender has reached.
func (i *inPeer) learnEpoch(h *header) {
	if (i.epoch-h.epoch)&15 < (i.epoch-i.senderEpoch)&15 {
		i.senderEpoch = h.epoch
	}
}

// replenish takes over what a sender has spent, which returns that credit to B
// and to the sender's bucket.
func (r *receiver) replenish(now Time, i *inPeer, h *header) {
	if h.epoch != i.epoch {
		return
	}
	credit := Bytes(int32(h.credit - i.spent))
	if credit > 0 && credit <= i.credit() {
		r.progress(now, i)
		i.spent = h.credit
		r.outstanding -= credit
		r.overtaken(now, i)
	}
}

// wellCut reports that a DATA packet has a whole packet of its message, or is a
// request.
func (r *receiver) wellCut(h *header, p *transport.Packet) bool {
	n, offset, size := Bytes(p.PayloadLen), Bytes(h.offset), Bytes(h.length)
	if n == 0 {
		return size > 0 && h.flags&request != 0
	}
	return size > 0 && offset%r.mss == 0 && n == min(r.mss, size-offset)
}

// begin starts a message with the first of its packets to arrive. All of its
// unscheduled prefix is charged at once (README, Crediting).
func (r *receiver) begin(now Time, i *inPeer, h *header) *inMessage {
	m := r.newInMessage(i)
	m.ID, m.Tag, m.Peer, m.Size = h.id, h.tag, i.id, Bytes(h.length)
	// No sender takes more than a BDP, or a packet, without credit.
	m.prefix = min(m.Size, Bytes(h.prefix)*r.mss, (r.params.BDP/r.frame+1)*r.mss)
	m.granted = m.prefix
	if had, ok := i.remains[m.ID]; ok {
		m.received = had
		delete(i.remains, m.ID)
	}
	i.messages.Add(m.ID, m)
	r.learn(now, m)
	if r.params.AccountUnscheduled {
		m.charged = r.wireOfRange(m.prefix)
		i.charged += m.charged
		r.outstanding += m.charged
		r.expectPrefix(now, m)
	}
	if m.granted < m.Size {
		r.activate(m)
		r.seniority.begins(m)
	}
	r.watch(now, m)
	return m
}

// onPayload takes the bytes of a DATA packet. They are all new or none, since
// packets are cut at the same places whenever they are sent (wellCut).
func (r *receiver) onPayload(now Time, m *inMessage, h *header, p *transport.Packet) {
	offset, n := Bytes(h.offset), Bytes(p.PayloadLen)
	m.probes = 0
	m.progress(now)
	r.order(now, m, stretch{offset, offset + n})
	if m.received.Add(offset, offset+n) == 0 {
		r.env.Sink.Count(&duplicates, 1)
		// The sender has announced a message that is on its way: the BUSY stops it
		// from doing so again soon.
		if h.kind == unscheduled {
			r.sendBusy(m)
		}
		return
	}
	if h.kind == unscheduled {
		r.flowing = now
		r.release(m, r.wireOf(n))
	}
	r.env.Sink.Data(now, m.Message, offset, int(n), p.Payload)
	if m.slot.In() {
		r.activate(m)
	}
	if m.remaining() == 0 {
		r.finish(now, m)
	}
}

var duplicates = transport.Counter{Name: "duplicate_data"}

// release takes up to wire bytes of m's unscheduled prefix off B and its sender's
// bucket.
func (r *receiver) release(m *inMessage, wire Bytes) {
	wire = min(wire, m.charged)
	m.charged -= wire
	m.from.charged -= wire
	r.outstanding -= wire
}

func (r *receiver) finish(now Time, m *inMessage) {
	m.complete = true
	m.lost.Reset()
	r.unfinished.Remove(m)
	r.release(m, m.charged)
	m.from.messages.Done(m.ID)
	r.deliver(now, m)
	r.forgetIfDone(m)
	r.env.Sink.Delivered(now, m.Message)
}

// forgetIfDone drops the state of a message that is complete and fully granted.
func (r *receiver) forgetIfDone(m *inMessage) {
	if m.complete && m.granted == m.Size {
		r.forget(m)
	}
}

// forget drops the state of a message.
func (r *receiver) forget(m *inMessage) {
	if m.closed {
		return
	}
	m.closed = true
	m.from.ungranted.Remove(m)
	r.unfinished.Remove(m)
	m.from.messages.Forget(m.ID)
	r.recycle(m)
}

// sendBusy answers a sender that its message is known, and waits for credit.
func (r *receiver) sendBusy(m *inMessage) {
	r.control.Push(controlPacket{peer: m.from.id, kind: busy, flags: request, id: m.ID})
}
