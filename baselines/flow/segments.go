package flow

import "sirdbed/sirdnode/transport/queue"

// Segments is a sender's account of the message that a connection carries: what
// was sent, acknowledged and lost. A segment is lost when one that was sent at
// least three transmissions later has arrived: TCP's three duplicate
// acknowledgements, by selective ones (README, Loss). Retransmissions are no
// exception, since each transmission has a number of its own, which continues
// from message to message.
//
// When to send is up to the caller.
type Segments struct {
	mss  Bytes
	size Bytes

	count    int       // segments of the message
	acked    int       // all below have arrived
	fresh    int       // the first segment never sent
	ring     []segment // of [acked, fresh), by number modulo its length
	inFlight int
	lost     int // to be sent again
	lostFrom int // none below is lost

	sent    queue.FIFO[transmission] // in order; those settled are removed now and then
	next    uint64                   // number of the next transmission
	highest uint64                   // one more than the highest number that arrived
	waited  Time                     // of the transmission whose stamp came back last
}

type segment struct {
	state         segmentState
	retransmitted bool   // transmitted more than once
	transmission  uint64 // number of the last transmission
	at            Time   // of the last transmission
	wait          Time   // before it
}

type segmentState uint8

const (
	flying  segmentState = iota // in flight
	missing                     // lost
	arrived
)

type transmission struct {
	segment int
	number  uint64
}

// reorder is how many later transmissions must have arrived before one counts
// as lost: TCP's three duplicate acknowledgements (README, Loss).
const reorder = 3

// NewSegments makes an account for messages cut into segments of mss.
func NewSegments(mss Bytes) Segments { return Segments{mss: mss, ring: make([]segment, 8)} }

// Begin takes the connection's next message.
func (s *Segments) Begin(size Bytes) {
	s.size, s.count = size, int((size+s.mss-1)/s.mss)
	s.acked, s.fresh, s.inFlight, s.lost, s.lostFrom = 0, 0, 0, 0, 0
	s.sent.Reset()
}

// Done reports that all of the message has arrived.
func (s *Segments) Done() bool { return s.acked == s.count }

// InFlight returns how many segments are in flight, as far as the sender knows.
func (s *Segments) InFlight() int { return s.inFlight }

// Left returns how many segments are still to be sent, or to be sent again.
func (s *Segments) Left() int { return s.count - s.fresh + s.lost }

// NextTransmission returns the number of the next transmission.
func (s *Segments) NextTransmission() uint64 { return s.next }

// Highest returns one more than the number of the latest transmission known to
// have arrived.
func (s *Segments) Highest() uint64 { return s.highest }

// Waited returns the wait before the transmission that caused the latest
// acknowledgement, as Send was told, 0 if that is not known.
func (s *Segments) Waited() Time { return s.waited }

// Send counts the next segment as transmitted after a wait, lost ones first. It
// returns the segment's range, and whether this is a retransmission. ok is false if
// there is nothing to send.
func (s *Segments) Send(now, wait Time) (offset, n Bytes, retransmission, ok bool) {
	var number int
	switch {
	case s.lost > 0:
		number = max(s.lostFrom, s.acked)
		for s.at(number).state != missing {
			number++
		}
		s.lost--
		s.lostFrom = number + 1
		retransmission = true
	case s.fresh < s.count:
		number = s.fresh
		if s.fresh-s.acked == len(s.ring) {
			s.grow()
		}
		s.fresh++
	default:
		return 0, 0, false, false
	}
	*s.at(number) = segment{flying, retransmission, s.next, now, wait}
	s.sent.Push(transmission{number, s.next})
	s.next++
	s.inFlight++
	offset = Bytes(number) * s.mss
	return offset, min(s.mss, s.size-offset), retransmission, true
}

func (s *Segments) at(number int) *segment { return &s.ring[number&(len(s.ring)-1)] }

func (s *Segments) grow() {
	old := *s
	s.ring = make([]segment, 2*len(s.ring))
	for n := s.acked; n < s.fresh; n++ {
		*s.at(n) = *old.at(n)
	}
}

// Arrived counts the bytes [0, to) as arrived. stamp is the time, in ns modulo
// 2^32, at which the packet that caused the acknowledgement was sent. It returns
// how many segments were not known to have arrived. Ranges that were never sent
// are ignored.
func (s *Segments) Arrived(to Bytes, stamp uint32) (fresh int) {
	s.waited = 0
	end := s.number(to)
	if end > s.fresh {
		return 0
	}
	for ; s.acked < end; s.acked++ {
		fresh += s.settle(s.at(s.acked), stamp)
	}
	s.trim()
	return fresh
}

// ArrivedRange counts the bytes [from, to) as arrived, like Arrived.
func (s *Segments) ArrivedRange(from, to Bytes, stamp uint32) (fresh int) {
	if from < 0 || from%s.mss != 0 {
		return 0
	}
	end := s.number(to)
	if end > s.fresh {
		return 0
	}
	for n := max(int(from/s.mss), s.acked); n < end; n++ {
		fresh += s.settle(s.at(n), stamp)
	}
	for s.acked < s.fresh && s.at(s.acked).state == arrived {
		s.acked++
	}
	s.trim()
	return fresh
}

// number returns the number of the segment that begins at to, or at the message's
// end the number of segments.
func (s *Segments) number(to Bytes) int {
	if to >= s.size {
		return s.count
	}
	return int(to / s.mss)
}

func (s *Segments) settle(g *segment, stamp uint32) int {
	switch g.state {
	case arrived:
		return 0
	case flying:
		s.inFlight--
	case missing:
		s.lost--
	}
	g.state = arrived
	if uint32(g.at) == stamp {
		s.waited = g.wait
	}
	// If it was transmitted more than once, the stamp shows whether the last
	// transmission arrived.
	if !g.retransmitted || uint32(g.at) == stamp {
		s.highest = max(s.highest, g.transmission+1)
	}
	return 1
}

// Lost finds the segments that are lost by now. It returns how many, and one more
// than the highest number of their transmissions.
func (s *Segments) Lost() (n int, end uint64) {
	for s.sent.Len() > 0 {
		t := *s.sent.Front()
		g := s.at(t.segment)
		if t.segment >= s.acked && g.state == flying && g.transmission == t.number {
			if s.highest < t.number+1+reorder {
				break
			}
			s.lose(t.segment, g)
			n, end = n+1, t.number+1
		}
		s.sent.Pop()
	}
	return n, end
}

func (s *Segments) lose(number int, g *segment) {
	g.state = missing
	s.inFlight--
	s.lost++
	s.lostFrom = min(s.lostFrom, number)
}

// LoseAll takes everything in flight for lost, after a timeout. It returns how many
// segments that are.
func (s *Segments) LoseAll() (n int) {
	s.lostFrom = s.acked
	for i := s.acked; i < s.fresh; i++ {
		if g := s.at(i); g.state == flying {
			s.lose(i, g)
			n++
		}
	}
	s.sent.Reset()
	return n
}

// trim removes the oldest transmissions whose segments are settled.
func (s *Segments) trim() {
	for s.sent.Len() > 0 {
		t := *s.sent.Front()
		if t.segment >= s.acked && s.at(t.segment).state == flying && s.at(t.segment).transmission == t.number {
			return
		}
		s.sent.Pop()
	}
}
