package sird

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// An outMessage is a message on its way out, until it is acknowledged or given
// up.
type outMessage struct {
	transport.Message
	slot queue.Slot // in the peer's unannounced or scheduled heap

	prefix Bytes // payload that needs no credit: whole packets, or everything
	sent   Bytes // payload sent so far, in order
	known  bool  // the receiver has shown that it knows the message

	heard Time // when it was last sent from, or heard about
	wait  Time // silence after which it is announced again
	tries int
}

func (m *outMessage) unsent() Bytes { return m.Size - m.sent }

// An outPeer is what a sender knows of one receiver.
type outPeer struct {
	id     transport.HostID
	active bool // listed in sender.active

	epoch          uint8
	granted, spent uint32 // running totals of credit, modulo 2^32

	messages    account.Outgoing[*outMessage]
	unannounced queue.Heap[outMessage] // with unscheduled bytes left, by bytes unsent
	scheduled   queue.Heap[outMessage] // with scheduled bytes left, by bytes unsent
	again       []span                 // ranges to be sent again, on credit
	unscheduled Bytes                  // wire bytes of prefixes still to be sent
	deficit     float64                // of the uplink policy
}

// A span is a range of a message to be sent again.
type span struct {
	m        *outMessage
	from, to Bytes
}

// held returns the credit that the sender has from this receiver.
func (o *outPeer) held() Bytes { return Bytes(int32(o.granted - o.spent)) }

// candidate returns the packet that the peer's next transmission would be:
// message, offset and payload. It is false when there is nothing to send, or no
// credit for it. Lost ranges come first, then messages that the receiver may not
// know of, then the one with the fewest bytes left (protocols.md section 1.6).
func (s *SIRD) candidate(o *outPeer) (m *outMessage, from, n Bytes, ok bool) {
	if len(o.again) > 0 {
		a := o.again[0]
		n = min(s.mss, a.to-a.from)
		if o.held() >= s.wireOf(n) {
			return a.m, a.from, n, true
		}
	}
	if m = o.unannounced.Top(); m != nil {
		return m, m.sent, min(s.mss, m.prefix-m.sent), true
	}
	if m = o.scheduled.Top(); m != nil {
		n = min(s.mss, m.unsent())
		return m, m.sent, n, o.held() >= s.wireOf(n)
	}
	return nil, 0, 0, false
}

// idle reports that the peer has nothing that credit could be spent on.
func (o *outPeer) idle() bool {
	return len(o.again) == 0 && o.unannounced.Len() == 0 && o.scheduled.Len() == 0
}

// sortIn puts a message in the heap where it belongs.
func (o *outPeer) sortIn(m *outMessage) {
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

// drop forgets a message that was acknowledged or given up.
func (s *SIRD) drop(o *outPeer, m *outMessage) {
	left := s.prefixLeft(m)
	o.unscheduled -= left
	s.sender.unscheduled -= left
	o.again = slices.DeleteFunc(o.again, func(a span) bool { return a.m == m })
	o.unannounced.Remove(m)
	o.scheduled.Remove(m)
	o.messages.Settle(m.ID)
	s.sender.count--
	s.returnUnused(o)
}

// prefixLeft returns the wire bytes of a message's unscheduled prefix that are
// still to be sent.
func (s *SIRD) prefixLeft(m *outMessage) Bytes {
	if m.sent >= m.prefix {
		return 0
	}
	return s.wireOfRange(m.prefix - m.sent)
}

// prefixFor returns how much of a new message to o goes without credit: nothing
// above UnschT; else up to a BDP, counting credit already held for o, but always
// a packet.
func (s *SIRD) prefixFor(o *outPeer, size Bytes) Bytes {
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

const maxPrefix = 1<<16 - 1 // packets

// firstWait is how long a sender waits for an answer before it announces a
// message again: longer than the receiver, whose turn comes first. It backs off
// while the receiver answers that it knows.
func (s *SIRD) firstWait() Time { return 2 * s.params.LossTimeout }

// dataHeader fills in what every DATA packet says of its message.
func (s *SIRD) dataHeader(h *header, o *outPeer, m *outMessage) {
	h.kind = data
	h.epoch, h.credit = o.epoch, o.spent
	h.id, h.tag, h.length = m.ID, m.Tag, uint32(m.Size)
	h.behind = o.messages.Behind(m.ID)
	h.prefix = uint16((m.prefix + s.mss - 1) / s.mss)
}

func (s *SIRD) newOutMessage(now Time, o *outPeer, m transport.Message) *outMessage {
	om := &outMessage{Message: m, heard: now, wait: s.firstWait()}
	om.prefix = s.prefixFor(o, m.Size)
	o.messages.Add(m.ID, om)
	s.sender.count++
	left := s.prefixLeft(om)
	o.unscheduled += left
	s.sender.unscheduled += left
	o.sortIn(om)
	return om
}
