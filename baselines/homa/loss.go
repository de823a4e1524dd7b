package homa

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

// Loss is inferred from silence, as in HomaModule (README, Loss). A receiver
// that lacks bytes which its sender may have sent asks for them with RESEND,
// unless a full downlink explains why they have not arrived (downlink.go). The
// sender repeats what it had sent, and says BUSY if the rest waits for its
// turn. A sender that has heard nothing of a message asks with NEED_ACK what
// has become of it: it is complete (ACK), known (BUSY), or was lost whole
// (UNKNOWN), and then it starts again. Either end gives up after MaxResends
// attempts without an answer.

var (
	resends  = transport.Counter{Name: "resends_asked"}
	inquests = transport.Counter{Name: "acks_asked"}
	restarts = transport.Counter{Name: "messages_begun_again"}
	waits    = transport.Counter{Name: "busy_answers"}
	abandons = transport.Counter{Name: "inbound_messages_abandoned"}
)

// firstWait is how long a sender waits before it asks: longer than the
// receiver, which asks first. The wait backs off while the receiver answers
// that it knows the message.
func (h *Homa) firstWait() Time { return 2 * h.params.LossTimeout }

// checkLoss does what is due at both ends, in an order that does not
// depend on the iteration of maps.
func (h *Homa) checkLoss(now Time) {
	for _, o := range h.sender.peers {
		if o != nil && o.messages.Len() > 0 {
			h.lossCheck.Arm(now)
			h.askWhatBecame(now, o)
		}
	}
	for _, i := range h.receiver.met {
		if i.messages.Len() > 0 {
			h.lossCheck.Arm(now)
			h.askAgain(now, i)
		}
	}
}

// askWhatBecame asks about messages of which nothing was heard for too long.
// Nothing can be heard of a message of which nothing has been sent yet, because
// shorter ones came first.
func (h *Homa) askWhatBecame(now Time, o *outPeer) {
	for m := range o.messages.All() {
		if m.sent == 0 || now-m.heard < m.wait {
			continue
		}
		if m.tries >= h.params.MaxResends {
			message, tries, wait := m.Message, m.tries, m.wait
			h.dropOut(m)
			h.env.Sink.Failed(now, message, fmt.Sprintf("%s did not answer %d attempts, %v apart", h.env.Fabric.HostName(o.id), tries, wait))
			continue
		}
		m.tries++
		m.heard, m.asked = now, true
		h.control.Push(note{peer: o.id, kind: needAck, own: true, id: m.ID})
		h.env.Sink.Count(&inquests, 1)
	}
}

// askAgain asks a sender for what is overdue.
func (h *Homa) askAgain(now Time, i *inPeer) {
	silent := i.messages.Select(func(m *inMessage) bool { return h.overdue(now, m) })
	for _, m := range silent {
		if m.asked >= h.params.MaxResends {
			h.env.Sink.Count(&abandons, 1)
			h.dropIn(now, m)
			continue
		}
		asked := m.asked + 1
		h.heardOf(now, m)
		m.asked = asked
		h.ask(m)
	}
}

// ask asks for everything missing of what was granted, up to RTTbytes.
func (h *Homa) ask(m *inMessage) {
	room := h.window
	for at := Bytes(0); room > 0; {
		from, to, ok := m.got.Gap(at, m.granted)
		if !ok {
			return
		}
		to = min(to, from+room)
		room -= to - from
		at = to
		h.control.Push(note{peer: m.from.id, kind: resend, id: m.ID, offset: from, length: to - from})
		h.env.Sink.Count(&resends, 1)
	}
}

// receiveResend repeats the part of the range that was sent before. The rest
// counts as granted, in case the GRANT was lost, and waits for its turn.
func (h *Homa) receiveResend(now Time, hd *header, peer transport.HostID) {
	m := h.outPeer(peer).messages.Find(hd.id)
	if m == nil {
		h.control.Push(note{peer: peer, kind: unknown, own: true, id: hd.id})
		return
	}
	from, to := Bytes(hd.offset), Bytes(hd.offset)+Bytes(hd.length)
	if !h.startsPacket(from, m.Size) || !h.endsPacket(to, m.Size) || from >= to {
		return // inconsistent
	}
	m.answered(now, h.firstWait())
	if known := min(to, m.sent); from < known {
		h.sendAgain(m, from, known, hd.priority)
	}
	if to > m.sent {
		h.raiseLimit(m, to)
		h.control.Push(note{peer: peer, kind: busy, own: true, id: m.ID})
		h.env.Sink.Count(&waits, 1)
	}
}

// receiveBusy learns that the other end knows a message, which waits: at its
// sender for the uplink, or at its receiver for grants.
func (h *Homa) receiveBusy(now Time, hd *header, peer transport.HostID) {
	if hd.own {
		if m := h.inPeer(peer).messages.Find(hd.id); m != nil {
			h.heardOf(now, m)
		}
	} else if m := h.outPeer(peer).messages.Find(hd.id); m != nil {
		m.answered(now, timer.Backoff(m.wait, h.firstWait()))
	}
}

// receiveNeedAck answers a sender's question about its message.
func (h *Homa) receiveNeedAck(hd *header, peer transport.HostID) {
	i := h.inPeer(peer)
	n := note{peer: peer, kind: unknown, id: hd.id}
	if i.messages.IsDone(hd.id) {
		n.kind = ack
	} else if i.messages.Find(hd.id) != nil {
		n.kind = busy
	}
	h.control.Push(n)
}

// receiveUnknown restarts a message that its receiver does not know, or forgets
// one that its sender has given up. Only the first answer to a question counts,
// and it does not keep the message from failing.
func (h *Homa) receiveUnknown(now Time, hd *header, peer transport.HostID) {
	if hd.own {
		if m := h.inPeer(peer).messages.Find(hd.id); m != nil {
			h.env.Sink.Count(&abandons, 1)
			h.dropIn(now, m)
		}
	} else if m := h.outPeer(peer).messages.Find(hd.id); m != nil && m.asked {
		m.heard, m.asked = now, false
		h.env.Sink.Count(&restarts, 1)
		h.beginAgain(m)
	}
}
