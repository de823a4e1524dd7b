package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An inMessage is a message on its way in. It is kept until it is complete and
// credit for all of it has been granted: credit belongs to the pair of hosts, so
// a message may complete on another's credit, which that one then lacks
// (protocols.md section 1.5).
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in the peer's heap of messages that want credit

	got       account.Spans // payload that has arrived
	prefix    Bytes         // payload that needs no credit
	granted   Bytes         // payload covered by the prefix and by credit so far
	uncounted Bytes         // wire bytes of the prefix still charged and not yet arrived
	complete  bool

	heard Time // when something of it last arrived, or began to be due, or its sender said it lives
	asked int  // RESENDs since
}

// left returns the payload still to arrive: SRPT's key.
func (m *inMessage) left() Bytes { return m.Size - m.got.Total() }

// overdue reports that bytes are missing which the sender may have sent.
func (m *inMessage) overdue() bool { return !m.complete && m.granted > m.got.Total() }

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	loops
	id      transport.HostID
	listed  bool // in receiver.wanting
	turn    uint64
	heard   Time
	silent  bool   // nothing heard since credit was reclaimed
	epoch   uint8  // of the totals
	known   uint8  // the epoch that the sender last said it is in
	granted uint32 // running totals of scheduled credit, modulo 2^32
	spent   uint32
	charged Bytes // unscheduled wire bytes expected

	messages account.Incoming[inMessage]
	want     queue.Heap[inMessage] // messages that want more credit
}

// inFlight returns the credit out to this sender, unscheduled bytes included.
func (i *inPeer) inFlight() Bytes { return Bytes(int32(i.granted-i.spent)) + i.charged }

// farBehind reports that the sender may be so many epochs behind that it would
// take the next one for an old one. It then gets no credit, which might have to
// be reclaimed, until it says which it is in.
func (i *inPeer) farBehind() bool { return (i.epoch-i.known)&15 >= 7 }
