package homa

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
)

// An inMessage is a message being received.
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in the peer's heap of messages to grant

	got     account.Spans // payload that has arrived
	granted Bytes         // offset up to which the sender may send: unscheduled, then by grants

	heard    Time  // when a packet of it last arrived, or its sender said BUSY
	arrivals Bytes // receiver.arrivals then
	asked    int   // RESENDs since
}

// toGrant returns the payload not yet granted, the key of SRPT.
func (m *inMessage) toGrant() Bytes { return m.Size - m.granted }

// inFlight returns the payload granted and not yet received.
func (m *inMessage) inFlight() Bytes { return m.granted - m.got.Total() }

// An inPeer is a receiver's state for one sender.
type inPeer struct {
	id    transport.HostID
	place int         // in receiver.ranking, from 1; 0: not there
	pacer timer.Pacer // of grants to this sender

	messages account.Incoming[inMessage]
	want     queue.Heap[inMessage] // messages to grant, by toGrant
}

// before is the order of senders: by the bytes still to be granted of the
// message that would be granted next.
func (i *inPeer) before(j *inPeer) bool {
	a, b := i.want.Top().toGrant(), j.want.Top().toGrant()
	return a < b || a == b && i.id < j.id
}
