package homa

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

// Loss is inferred from a time without progress, as in HomaModule (README, Loss).
// A receiver requests overdue bytes with a RESEND, unless a full downlink explains
// why they have not arrived (downlink.go). The sender sends again what it had
// sent, and answers BUSY if the rest waits for its turn. A sender without an
// answer about a message sends NEED_ACK. The message is complete (ACK), known
// (BUSY), or unknown because all of it was lost (UNKNOWN): then the sender
// restarts it. Either end gives a message up after MaxResends attempts without an
// answer.

var (
	resendsSent  = transport.Counter{Name: "resends_asked"}
	needAcksSent = transport.Counter{Name: "acks_asked"}
	restarts     = transport.Counter{Name: "messages_begun_again"}
	busySent     = transport.Counter{Name: "busy_answers"}
	abandons     = transport.Counter{Name: "inbound_messages_abandoned"}
)

// needAckTimeout is how long a sender waits before it sends NEED_ACK: longer than
// the receiver, whose turn comes first. It backs off while the receiver answers
// that it knows the message.
func (h *Homa) needAckTimeout() Time { return 2 * h.params.LossTimeout }

// checkLoss does what is due for messages in both directions, in an order that
// does not depend on how maps are laid out.
func (h *Homa) checkLoss(now Time) {
	for _, o := range h.sender.peers {
		if o != nil && o.messages.Len() > 0 {
			h.lossCheck.Arm(now)
			h.checkOutbound(now, o)
		}
	}
	for _, i := range h.receiver.known {
		if i.messages.Len() > 0 {
			h.lossCheck.Arm(now)
			h.checkInbound(now, i)
		}
	}
}

// checkOutbound sends NEED_ACK for messages that nothing was sent of, and no
// answer came to, for too long. Messages that have not begun, because shorter ones
// came first, are left out.
func (h *Homa) checkOutbound(now Time, o *outPeer) {
	for m := range o.messages.All() {
		if m.sent == 0 || now-m.lastActivity < m.timeout {
			continue
		}
		if m.attempts >= h.params.MaxResends {
			message, attempts, timeout := m.Message, m.attempts, m.timeout
			h.forgetOut(m)
			h.env.Sink.Failed(now, message, fmt.Sprintf("%s did not answer %d attempts, %v apart",
				h.env.Fabric.HostName(o.id), attempts, timeout))
			continue
		}
		m.attempts++
		m.lastActivity, m.needAckSent = now, true
		h.control.Push(controlPacket{peer: o.id, kind: needAck, fromSender: true, id: m.ID})
		h.env.Sink.Count(&needAcksSent, 1)
	}
}

// checkInbound requests what a sender is overdue with.
func (h *Homa) checkInbound(now Time, i *inPeer) {
	late := i.messages.Select(func(m *inMessage) bool { return h.timedOut(now, m) })
	for _, m := range late {
		if m.resends >= h.params.MaxResends {
			h.env.Sink.Count(&abandons, 1)
			h.forgetIn(now, m)
			continue
		}
		resends := m.resends + 1
		h.markProgress(now, m)
		m.resends = resends
		h.sendResends(m)
	}
}

// sendResends requests all that is missing of what was granted, up to RTTbytes.
func (h *Homa) sendResends(m *inMessage) {
	room := h.rttBytes
	for at := Bytes(0); room > 0; {
		from, to, ok := m.received.Gap(at, m.granted)
		if !ok {
			return
		}
		to = min(to, from+room)
		room -= to - from
		at = to
		h.control.Push(controlPacket{peer: m.from.id, kind: resend, id: m.ID, offset: from, length: to - from})
		h.env.Sink.Count(&resendsSent, 1)
	}
}

// receiveResend sends the part of the range that was sent before again. The rest
// counts as granted, in case the GRANT was lost, and waits for its turn.
func (h *Homa) receiveResend(now Time, hd *header, peer transport.HostID) {
	m := h.outPeer(peer).messages.Find(hd.id)
	if m == nil {
		h.control.Push(controlPacket{peer: peer, kind: unknown, fromSender: true, id: hd.id})
		return
	}
	from, to := Bytes(hd.offset), Bytes(hd.offset)+Bytes(hd.length)
	if !h.startsPacket(from, m.Size) || !h.endsPacket(to, m.Size) || from >= to {
		return // malformed
	}
	m.confirm(now, h.needAckTimeout())
	if known := min(to, m.sent); from < known {
		h.queueRetransmit(m, from, known, hd.priority)
	}
	if to > m.sent {
		h.raiseLimit(m, to)
		h.control.Push(controlPacket{peer: peer, kind: busy, fromSender: true, id: m.ID})
		h.env.Sink.Count(&busySent, 1)
	}
}

// receiveBusy takes from the other end that it knows a message, which waits: at
// its sender for the uplink, or at its receiver for grants.
func (h *Homa) receiveBusy(now Time, hd *header, peer transport.HostID) {
	if hd.fromSender {
		if m := h.inPeer(peer).messages.Find(hd.id); m != nil {
			h.markProgress(now, m)
		}
	} else if m := h.outPeer(peer).messages.Find(hd.id); m != nil {
		m.confirm(now, timer.Backoff(m.timeout, h.needAckTimeout()))
	}
}

// receiveNeedAck answers with the state of a sender's message.
func (h *Homa) receiveNeedAck(hd *header, peer transport.HostID) {
	i := h.inPeer(peer)
	n := controlPacket{peer: peer, kind: unknown, id: hd.id}
	if i.messages.IsDone(hd.id) {
		n.kind = ack
	} else if i.messages.Find(hd.id) != nil {
		n.kind = busy
	}
	h.control.Push(n)
}

// receiveUnknown restarts a message that its receiver does not know, or abandons
// one that its sender has given up. Only the first answer to a NEED_ACK counts,
// and it does not keep the message from failing.
func (h *Homa) receiveUnknown(now Time, hd *header, peer transport.HostID) {
	if hd.fromSender {
		if m := h.inPeer(peer).messages.Find(hd.id); m != nil {
			h.env.Sink.Count(&abandons, 1)
			h.forgetIn(now, m)
		}
	} else if m := h.outPeer(peer).messages.Find(hd.id); m != nil && m.needAckSent {
		m.lastActivity, m.needAckSent = now, false
		h.env.Sink.Count(&restarts, 1)
		h.restart(m)
	}
}
