package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An inMessage is a message on its way in. It is kept until it is complete and
// credit for all of it has been granted: credit belongs to the pair of hosts, so
// a message may complete on another's credit, which that one then lacks (README,
// Crediting).
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in the peer's heap of messages that need credit

	received account.Spans // payload that has arrived
	prefix   Bytes         // payload that needs no credit
	granted  Bytes         // payload covered by the prefix and by credit so far
	charged  Bytes         // wire bytes of the prefix that are charged and have not arrived
	complete bool

	lastProgress Time // when bytes or a BUSY of it last arrived, or it became overdue
	resends      int  // RESENDs since
}

// remaining returns the payload still to arrive: SRPT's key.
func (m *inMessage) remaining() Bytes { return m.Size - m.received.Total() }

// overdue reports that bytes are missing which the sender may have sent.
func (m *inMessage) overdue() bool { return !m.complete && m.granted > m.received.Total() }

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	loops
	id     transport.HostID
	active bool   // in receiver.activeSenders
	turn   uint64 // of its last grant

	lastPacket Time // when any packet last arrived, or credit began to be out
	silent     bool // no packet has arrived since its credit was reclaimed

	epoch       uint8  // of the totals, modulo 16
	senderEpoch uint8  // the latest that the sender has shown
	granted     uint32 // running totals of scheduled credit, modulo 2^32
	spent       uint32
	charged     Bytes // unscheduled wire bytes expected

	messages  account.Incoming[inMessage]
	ungranted queue.Heap[inMessage] // messages that need more credit
}

func newInPeer(id transport.HostID, e *endpoint) *inPeer {
	return &inPeer{
		id: id, loops: newLoops(&e.params, e.frame),
		messages:  account.NewIncoming[inMessage](),
		ungranted: queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
	}
}

// outstanding is sb_i: the credit out to this sender, unscheduled bytes included.
func (i *inPeer) outstanding() Bytes { return Bytes(int32(i.granted-i.spent)) + i.charged }

// epochUncertain reports that the sender may be so many epochs behind that it
// would take the next one for an old one. It then gets no credit, which might
// have to be reclaimed, until its packets show which epoch it is in.
func (i *inPeer) epochUncertain() bool { return (i.epoch-i.senderEpoch)&15 >= 7 }

// stamp fills in the credit granted so far.
func (i *inPeer) stamp(h *header) { h.epoch, h.credit = i.epoch, i.granted }
