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

	received account.Spans // payload that has arrived
	granted  Bytes         // offset up to which the sender may send: unscheduled, then by grants

	lastProgress Time  // when a packet of it, or a BUSY, last arrived
	downlinkThen Bytes // receiver.downlinkBytes at that time
	resends      int   // rounds of RESENDs since
}

// toGrant returns the payload still to be granted: SRPT's key.
func (m *inMessage) toGrant() Bytes { return m.Size - m.granted }

// outstanding returns the payload granted and not yet received.
func (m *inMessage) outstanding() Bytes { return m.granted - m.received.Total() }

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	id    transport.HostID
	rank  int         // in receiver.ranking, from 1; 0: not in it
	pacer timer.Pacer // of grants to this sender

	messages  account.Incoming[inMessage]
	ungranted queue.Heap[inMessage] // messages to grant, by toGrant
}

// precedes orders senders by the bytes still to be granted of the message that
// would be granted next.
func (i *inPeer) precedes(j *inPeer) bool {
	a, b := i.ungranted.Top().toGrant(), j.ungranted.Top().toGrant()
	return a < b || a == b && i.id < j.id
}
