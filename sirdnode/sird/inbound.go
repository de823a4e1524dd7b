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
	closed   bool // it is not kept any more
	listed   int  // times that it is in the receiver's queues, which may be after it was closed

	high  Bytes               // payload below it has been sent: what has not arrived is late or lost
	gapAt Time                // when a packet last overtook others
	lost  queue.FIFO[stretch] // payload to be requested again
	asked bool                // some was
	named bool                // in credit: the sender knows that it is known

	timer        queue.Slot // in receiver.unfinished, by due
	due          Time
	lastProgress Time // when bytes or a BUSY of it last arrived, or it became overdue
	askedAt      Time // when its sender was last asked how far it is with it
	probes       int  // how often it was since
	strikes      int  // times of LossTimeout without progress
	struckAt     Time // the end of the last
}

// newInMessage returns a message without anything.
func (r *receiver) newInMessage(i *inPeer) *inMessage {
	m := r.spare.Get()
	received, lost := m.received, m.lost
	received.Reset()
	lost.Reset()
	*m = inMessage{from: i, received: received, lost: lost}
	return m
}

// list notes that a queue has m, and unlist that it has it no more.
func (m *inMessage) list() *inMessage { m.listed++; return m }

func (r *receiver) unlist(m *inMessage) {
	m.listed--
	r.recycle(m)
}

// recycle has m used again, once it is closed and in no queue. It stays as it is until a message
// begins.
func (r *receiver) recycle(m *inMessage) {
	if m.closed && m.listed == 0 {
		r.spare.Put(m)
	}
}

// remaining returns the payload still to arrive: SRPT's key.
func (m *inMessage) remaining() Bytes { return m.Size - m.received.Total() }

// overdue reports that bytes are missing which the sender may have sent, or that it gets no credit to send
// them with.
func (m *inMessage) overdue() bool {
	return !m.complete && (m.granted > m.received.Total() || m.from.suspended)
}

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	loops
	id    transport.HostID
	ready queue.Slot // in receiver.full or short
	turn  uint64     // of its last grant

	epoch       uint8  // of the totals, modulo 16
	senderEpoch uint8  // the latest that the sender has shown
	granted     uint32 // running totals of scheduled credit, modulo 2^32
	seen        uint32 // of it, what the sender has shown to know of
	spent       uint32
	charged     Bytes // unscheduled wire bytes expected

	tolerance   Time                // how late a packet may be that was overtaken
	wanted      queue.FIFO[wanted]  // requested, by the total granted with it
	lastGranted transport.MessageID // what credit was last for

	timer        queue.Slot // in receiver.indebted, by due
	due          Time
	lastProgress Time // when spent or seen last rose, or there was an answer, or credit began to be out
	firstProbe   Time // when it was asked for an answer since, first and last
	probedAt     Time
	probes       int  // how often it was
	suspended    bool // its credit is not in receiver.outstanding
	shownAt      Time // when spent or seen last rose, or there was an answer

	messages  account.Incoming[inMessage]
	known     transport.MessageID                   // all with lower ids are known, or were
	told      transport.MessageID                   // the same, as the sender was last told
	remains   map[transport.MessageID]account.Spans // what had arrived of abandoned ones
	forgot    bool                                  // one of them was abandoned since
	ungranted queue.Heap[inMessage]                 // messages that need more credit
}

func newInPeer(id transport.HostID, e *endpoint) *inPeer {
	return &inPeer{
		id: id, loops: newLoops(&e.params, e.bdpOf(id), e.frame),
		messages:  account.NewIncoming[inMessage](),
		ungranted: queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
	}
}

// credit is what is out to this sender for scheduled bytes.
func (i *inPeer) credit() Bytes { return Bytes(int32(i.granted - i.spent)) }

// outstanding is sb_i: the credit out to this sender, unscheduled bytes included.
func (i *inPeer) outstanding() Bytes { return i.credit() + i.charged }

// epochUncertain reports that the sender may be so many epochs behind that it
// would take the next one for an old one. It then gets no credit, which might
// have to be reclaimed, until its packets show which epoch it is in.
func (i *inPeer) epochUncertain() bool { return (i.epoch-i.senderEpoch)&15 >= 7 }

// stamp fills in the credit granted so far.
func (i *inPeer) stamp(h *header) { h.epoch, h.credit = i.epoch, i.granted }
