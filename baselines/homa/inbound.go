package homa

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
)

// An inMessage is a message on its way in.
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in the peer's heap of messages to grant

	got     account.Spans // payload that has arrived
	granted Bytes         // up to where the sender may send: unscheduled, then by grants

	heard    Time  // when something of it last arrived, or its sender said it lives
	arrivals Bytes // receiver.arrivals then
	asked    int   // RESENDs since
}

// toGrant returns the payload not yet granted: SRPT's key.
func (m *inMessage) toGrant() Bytes { return m.Size - m.granted }

// inFlight returns the payload granted and not yet received.
func (m *inMessage) inFlight() Bytes { return m.granted - m.got.Total() }

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	id    transport.HostID
	place int         // in receiver.ranking, from 1; 0: not there
	pacer timer.Pacer // of grants to this sender

	messages account.Incoming[inMessage]
	want     queue.Heap[inMessage] // messages to grant, by toGrant
}

// before is the order of senders: by what the message that each would be
// granted for has to be granted still.
func (i *inPeer) before(j *inPeer) bool {
	a, b := i.want.Top().toGrant(), j.want.Top().toGrant()
	return a < b || a == b && i.id < j.id
}
