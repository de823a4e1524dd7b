package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An outMessage is a message on its way out, until it is acknowledged or has
// failed.
type outMessage struct {
	transport.Message
	to   *outPeer
	slot queue.Slot // in sender.ready

	unscheduled Bytes // payload that needs no grant
	granted     Bytes // offset up to which it may be sent
	sent        Bytes // offset up to which it has been sent
	priority    uint8 // of scheduled data, by the last grant

	lastActivity Time // when a packet of it was last sent, or an answer to it arrived
	timeout      Time // after which NEED_ACK is sent
	needAckSent  bool // and it has not been answered
	attempts     int  // NEED_ACKs since the receiver last showed that it knows the message
}

func (m *outMessage) unsent() Bytes { return m.Size - m.sent }

// An outPeer is what a sender knows of one receiver.
type outPeer struct {
	id       transport.HostID
	messages account.Outgoing[*outMessage]
}

// A byteRange is a part of a message that is to be sent again, at the priority
// that its receiver has chosen.
type byteRange struct {
	m        *outMessage
	from, to Bytes
	priority uint8
}

func (h *Homa) newOutMessage(now Time, o *outPeer, message transport.Message) *outMessage {
	s := &h.sender
	m := s.free.Get()
	*m = outMessage{Message: message, to: o, lastActivity: now, timeout: h.needAckTimeout()}
	m.unscheduled = unscheduledOf(m.Size, h.params.RTTBytes, h.mss)
	m.granted = m.unscheduled
	o.messages.Add(m.ID, m)
	s.unsent += m.Size
	return m
}

// enqueue puts a message among those that may be sent, by the bytes that it has
// left, or removes it from them.
func (h *Homa) enqueue(m *outMessage) {
	if m.sent < m.granted {
		h.sender.ready.Set(m, m.unsent())
	} else {
		h.sender.ready.Remove(m)
	}
}

// confirm notes that the receiver knows the message.
func (m *outMessage) confirm(now Time, timeout Time) {
	m.lastActivity, m.needAckSent, m.attempts, m.timeout = now, false, 0, timeout
}

// raiseLimit lets a message be sent up to the given offset.
func (h *Homa) raiseLimit(m *outMessage, to Bytes) {
	if to > m.granted {
		m.granted = to
		h.enqueue(m)
	}
}

// forgetOut forgets a message that was acknowledged or has failed.
func (h *Homa) forgetOut(m *outMessage) {
	o := m.to
	h.sender.ready.Remove(m)
	h.sender.retransmit = slices.DeleteFunc(h.sender.retransmit, func(a byteRange) bool { return a.m == m })
	h.sender.unsent -= m.unsent()
	o.messages.Settle(m.ID)
	h.sender.free.Put(m)
}

// restart restarts a message from its beginning, as if it were new.
func (h *Homa) restart(m *outMessage) {
	h.sender.retransmit = slices.DeleteFunc(h.sender.retransmit, func(a byteRange) bool { return a.m == m })
	h.sender.unsent += m.sent
	m.sent, m.granted = 0, m.unscheduled
	h.enqueue(m)
}

// queueRetransmit queues a range for retransmission, in place of those that still
// wait and overlap it.
func (h *Homa) queueRetransmit(m *outMessage, from, to Bytes, priority uint8) {
	h.sender.retransmit = slices.DeleteFunc(h.sender.retransmit,
		func(a byteRange) bool { return a.m == m && a.from < to && from < a.to })
	h.sender.retransmit = append(h.sender.retransmit, byteRange{m, from, to, priority})
}
