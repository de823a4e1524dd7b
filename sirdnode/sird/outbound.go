package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An outMessage is a message on its way out, until it is acknowledged or has
// failed.
type outMessage struct {
	transport.Message
	slot queue.Slot // in the peer's unannounced or scheduled heap

	prefix    Bytes // payload that needs no credit: whole packets, or everything
	sent      Bytes // payload sent so far, in order
	repeats   int   // ranges of it that are to be sent again
	counted   bool  // in sender.messages
	begun     bool  // a packet of it was sent, or its request is to be
	confirmed bool  // the receiver has named it
	again     bool  // it was announced again
	settled   bool  // it was acknowledged, or has failed
	listed    int32 // times that it is in the peer's unknown and whole, which may be after that

	sentAt       Time // when its last new byte, its request or an announcement was sent
	answerIn     Time // how long an answer may take since the receiver has shown to have what was sent after it
	lastActivity Time // the same, or when it was confirmed or a range sent again
}

func (m *outMessage) unsent() Bytes { return m.Size - m.sent }

// confirm notes that the receiver knows the message.
func (m *outMessage) confirm(now Time) { m.confirmed, m.lastActivity = true, now }

// An outPeer is what a sender knows of one receiver.
type outPeer struct {
	id transport.HostID

	epoch          uint8
	granted, spent uint32 // running totals of credit, modulo 2^32

	messages    account.Outgoing[*outMessage]
	unannounced queue.Heap[outMessage] // with unscheduled bytes left, by bytes unsent
	scheduled   queue.Heap[outMessage] // with scheduled bytes left, by bytes unsent
	retransmit  queue.FIFO[byteRange]  // on credit
	unscheduled Bytes                  // wire bytes of prefixes still to be sent
	able        queue.Slot             // in sender.activeReceivers
	byLength    queue.Slot             // in sender.shortest
	deficit     int64                  // of the uplink policy, less sender.level

	known       transport.MessageID // the receiver knows all messages with lower ids
	unknown     unanswered          // begun, and perhaps not known to the receiver
	whole       unanswered          // all sent
	slowest     Time                // acknowledgement of late
	shownAt     Time                // when the latest message of the last acknowledgement was sent
	took        Time                // and how long that took
	tolerance   Time                // by how much a message may be overtaken and not be lost
	timer       queue.Slot          // in sender.silent, by due
	due         Time
	heardAt     Time // when it last sent anything as a receiver
	announcedAt Time // when a message was last announced to it again
	attempts    int  // such announcements since it was heard
	silentSince Time // the first of them
	waits       int  // times that it was checked since it last gave credit
}

// A byteRange is a part of a message that is to be sent again.
type byteRange struct {
	m        *outMessage
	from, to Bytes
}

func newOutPeer(id transport.HostID) *outPeer {
	slot := func(m *outMessage) *queue.Slot { return &m.slot }
	return &outPeer{id: id, unannounced: queue.NewHeap(slot), scheduled: queue.NewHeap(slot)}
}

// held is c_r: the credit that the sender has from this receiver.
func (o *outPeer) held() Bytes { return Bytes(int32(o.granted - o.spent)) }

// backlogged reports that something is to be sent to the receiver, with or
// without credit.
func (o *outPeer) backlogged() bool {
	return o.retransmit.Len() > 0 || o.unannounced.Len() > 0 || o.scheduled.Len() > 0
}

// stamp fills in the credit spent so far.
func (o *outPeer) stamp(h *header) { h.epoch, h.credit = o.epoch, o.spent }

// stampData fills in what every DATA packet carries of its message.
func (o *outPeer) stampData(h *header, m *outMessage, mss Bytes) {
	o.stamp(h)
	h.id, h.tag, h.length = m.ID, m.Tag, uint32(m.Size)
	h.aboveFloor = o.messages.AboveFloor(m.ID)
	h.prefix = uint16((m.prefix + mss - 1) / mss)
}

// requeue moves a message to the heap where it belongs.
func (o *outPeer) requeue(m *outMessage) {
	o.unannounced.Remove(m)
	switch {
	case m.sent < m.prefix:
		o.unannounced.Set(m, m.unsent())
	case m.unsent() > 0:
		o.scheduled.Set(m, m.unsent())
	default:
		o.scheduled.Remove(m)
	}
}

func (s *sender) newOutMessage(now Time, o *outPeer, m transport.Message) *outMessage {
	om := s.spare.Get()
	*om = outMessage{Message: m, sentAt: now, lastActivity: now}
	om.prefix = s.prefixOf(o, m.Size)
	o.messages.Add(m.ID, om)
	s.count(om)
	left := s.prefixLeft(om)
	o.unscheduled += left
	s.unscheduled += left
	o.requeue(om)
	return om
}

// remove forgets a message that was acknowledged or has failed.
func (s *sender) remove(o *outPeer, m *outMessage) {
	left := s.prefixLeft(m)
	o.unscheduled -= left
	s.unscheduled -= left
	o.cancelRetransmit(m)
	o.unannounced.Remove(m)
	o.scheduled.Remove(m)
	o.messages.Settle(m.ID)
	m.settled = true
	s.count(m)
	s.recycle(m)
	s.returnUnused(o)
	s.place(o)
}

// recycle has m used again, once it is settled and in no list. It stays as it is until a message
// begins.
func (s *sender) recycle(m *outMessage) {
	if m.settled && m.listed == 0 {
		s.spare.Put(m)
	}
}

// cancelRetransmit leaves out what was to be sent again of a message.
func (o *outPeer) cancelRetransmit(m *outMessage) {
	if m.repeats == 0 {
		return
	}
	for range o.retransmit.Len() {
		if a, _ := o.retransmit.Pop(); a.m != m {
			o.retransmit.Push(a)
		}
	}
	m.repeats = 0
}

// cancelRetransmits leaves out what was to be sent again to a receiver.
func (s *sender) cancelRetransmits(o *outPeer) {
	for a, ok := o.retransmit.Pop(); ok; a, ok = o.retransmit.Pop() {
		a.m.repeats--
		s.count(a.m)
	}
}

// count keeps sender.messages: a message competes for the uplink while bytes of it are to be sent.
// One that waits for its acknowledgement does not.
func (s *sender) count(m *outMessage) {
	sends := !m.settled && (m.unsent() > 0 || m.repeats > 0)
	switch {
	case sends && !m.counted:
		s.messages++
	case !sends && m.counted:
		s.messages--
	}
	m.counted = sends
}

// prefixLeft returns the wire bytes of a message's unscheduled prefix that are
// still to be sent.
func (s *sender) prefixLeft(m *outMessage) Bytes {
	if m.sent >= m.prefix {
		return 0
	}
	return s.wireOfRange(m.prefix - m.sent)
}

// prefixOf returns how much of a new message to o goes without credit: nothing
// above UnschT, else up to a BDP less the credit held for o and the prefixes on
// their way to it, but always a packet (README, Sender).
func (s *sender) prefixOf(o *outPeer, size Bytes) Bytes {
	wire := s.wireOfRange(size)
	if limit := s.params.UnschT.of(s.params.BDP); wire > limit || limit == 0 {
		return 0
	}
	room := max(s.frame, s.params.BDP-o.held()-o.unscheduled)
	if wire <= room {
		return size
	}
	return min(size, room/s.frame*s.mss, maxPrefix*s.mss)
}

const maxPrefix = 1<<16 - 1 // packets, by the header's field
