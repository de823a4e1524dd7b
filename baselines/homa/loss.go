package homa

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

// Loss is inferred from silence, as in HomaModule (protocols.md section 4.3). A
// receiver that misses bytes its sender may have sent asks for them with RESEND,
// unless a full downlink explains that they have not come (downlink.go).
// The sender sends again what it had sent, and says BUSY if the rest waits for
// its turn. A sender that has heard nothing of a message asks with NEED_ACK what
// has become of it: it is complete (ACK), known (BUSY), or was lost whole
// (UNKNOWN), and then it begins again. Either gives up after
// MaxResends attempts without an answer.

var (
	resends  = transport.Counter{Name: "resends_asked"}
	inquests = transport.Counter{Name: "acks_asked"}
	restarts = transport.Counter{Name: "messages_begun_again"}
	waits    = transport.Counter{Name: "busy_answers"}
	abandons = transport.Counter{Name: "inbound_messages_abandoned"}
)

// firstWait is how long a sender waits before it asks: longer than the receiver,
// whose turn comes first. It backs off while the receiver answers that it knows.
func (h *Homa) firstWait() Time { return 2 * h.params.LossTimeout }

// lookForSilence does what is due at both ends, in an order that does not
// depend on how maps are laid out.
func (h *Homa) lookForSilence(now Time) {
	for _, o := range h.sender.peers {
		if o != nil && o.messages.Len() > 0 {
			h.silent.Arm(now)
			h.askWhatBecame(now, o)
		}
	}
	for _, i := range h.receiver.met {
		if i.messages.Len() > 0 {
			h.silent.Arm(now)
			h.askAgain(now, i)
		}
	}
}

// askWhatBecame asks about messages that nothing was heard of for too long. A
// message that has not begun to be sent, since shorter ones came first, has
// nothing to be heard of.
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

// ask asks for all that is missing of what was granted, up to RTTbytes.
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

// receiveResend sends the part of the range that was sent before again. The rest
// is granted, should the GRANT be lost, and has its turn to come.
func (h *Homa) receiveResend(now Time, hd *header, peer transport.HostID) {
	m := h.outPeer(peer).messages.Find(hd.id)
	if m == nil {
		h.control.Push(note{peer: peer, kind: unknown, own: true, id: hd.id})
		return
	}
	from, to := Bytes(hd.offset), Bytes(hd.offset)+Bytes(hd.length)
	if !h.startsPacket(from, m.Size) || !h.endsPacket(to, m.Size) || from >= to {
		return // makes no sense
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

// receiveBusy takes word from the other end that a message is known there and
// waits: at its sender for the uplink, or at its receiver for grants.
func (h *Homa) receiveBusy(now Time, hd *header, peer transport.HostID) {
	if hd.own {
		if m := h.inPeer(peer).messages.Find(hd.id); m != nil {
			h.heardOf(now, m)
		}
	} else if m := h.outPeer(peer).messages.Find(hd.id); m != nil {
		m.answered(now, timer.Backoff(m.wait, h.firstWait()))
	}
}

// receiveNeedAck tells a sender what has become of its message.
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

// receiveUnknown begins a message again that its receiver knows nothing of, or
// forgets one that its sender has given up. Only the first answer to a question
// counts, and it does not count as one that keeps the message from failing.
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
