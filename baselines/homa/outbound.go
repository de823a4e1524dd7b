package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An outMessage is a message being sent, until it is acknowledged or given up.
type outMessage struct {
	transport.Message
	to   *outPeer
	slot queue.Slot // in sender.ready

	unscheduled Bytes // payload that needs no grant
	granted     Bytes // offset up to which it may be sent
	sent        Bytes // offset up to which it has been sent
	priority    uint8 // of scheduled data, by the last grant

	heard Time // when a packet of it was last sent, or something heard of it
	wait  Time // silence after which its receiver is asked
	asked bool // NEED_ACK is sent and not answered
	tries int  // of it, since something showed that the message is known
}

func (m *outMessage) unsent() Bytes { return m.Size - m.sent }

// An outPeer is a sender's state for one receiver.
type outPeer struct {
	id       transport.HostID
	messages account.Outgoing[*outMessage]
}

// A span is a range of a message to be sent again, at the priority that its
// receiver asked for.
type span struct {
	m        *outMessage
	from, to Bytes
	priority uint8
}

func (h *Homa) newOutMessage(now Time, o *outPeer, message transport.Message) *outMessage {
	s := &h.sender
	m := s.free.Get()
	*m = outMessage{Message: message, to: o, heard: now, wait: h.firstWait()}
	m.unscheduled = unscheduledOf(m.Size, h.params.RTTBytes, h.mss)
	m.granted = m.unscheduled
	o.messages.Add(m.ID, m)
	s.backlog += m.Size
	return m
}

// sortIn puts a message where the sender's policy finds it: among those that
// may be sent, by the bytes that they have left.
func (h *Homa) sortIn(m *outMessage) {
	if m.sent < m.granted {
		h.sender.ready.Set(m, m.unsent())
	} else {
		h.sender.ready.Remove(m)
	}
}

// answered records that the receiver knows the message.
func (m *outMessage) answered(now Time, wait Time) {
	m.heard, m.asked, m.tries, m.wait = now, false, 0, wait
}

// raiseLimit records that a message may be sent up to the given offset.
func (h *Homa) raiseLimit(m *outMessage, to Bytes) {
	if to > m.granted {
		m.granted = to
		h.sortIn(m)
	}
}

// dropOut forgets a message that was acknowledged or given up.
func (h *Homa) dropOut(m *outMessage) {
	o := m.to
	h.sender.ready.Remove(m)
	h.sender.again = slices.DeleteFunc(h.sender.again, func(a span) bool { return a.m == m })
	h.sender.backlog -= m.unsent()
	o.messages.Settle(m.ID)
	h.sender.free.Put(m)
}

// beginAgain restarts a message from its beginning, as if it were new.
func (h *Homa) beginAgain(m *outMessage) {
	h.sender.again = slices.DeleteFunc(h.sender.again, func(a span) bool { return a.m == m })
	h.sender.backlog += m.sent
	m.sent, m.granted = 0, m.unscheduled
	h.sortIn(m)
}

// sendAgain queues a range for retransmission. It replaces the ranges still
// waiting that it overlaps.
func (h *Homa) sendAgain(m *outMessage, from, to Bytes, priority uint8) {
	h.sender.again = slices.DeleteFunc(h.sender.again, func(a span) bool { return a.m == m && a.from < to && from < a.to })
	h.sender.again = append(h.sender.again, span{m, from, to, priority})
}
