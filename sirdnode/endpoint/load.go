//go:build linux

package endpoint

import (
	"math"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Load is what an endpoint sends to its peers, in turn.
type Load struct {
	Size units.Bytes // of each message
	// Answered asks for an answer of AnswerSize to each message: latencies are then of
	// round trips. Otherwise they end when the message is known to be delivered.
	Answered bool
	// Gap is the time from one message to the next: in an open loop the mean, whatever
	// becomes of messages, and in a closed loop the least. 0 in a closed loop: none.
	Gap units.Time
	// Outstanding is how many messages to each peer are under way at once, in a closed loop;
	// 0: the loop is open.
	Outstanding int
	// Count is how many messages there are, 0: no end.
	Count int64
	// For is how long new messages come, 0: no end.
	For units.Time
}

// AnswerSize is the size of answers.
const AnswerSize units.Bytes = 8

// The tag of a message: bit 31 is traffic's own, of a reply.
const (
	answeredBit traffic.Tag = 1 << 30
	indexMask               = 1<<30 - 1
)

// mostUnderWay bounds the messages of an open loop that the network cannot carry: further
// ones wait.
const mostUnderWay = 1 << 16

// A source is the application of an endpoint: the messages of a Load, and answers to
// others'. It is a host.Source.
type source struct {
	load    Load
	targets []topo.HostID

	free     []int // messages that may be sent to each target, in a closed loop
	freeAt   units.Time
	turn     int // the target that is next
	last     units.Time
	sent     int64
	next     units.Time
	underWay map[uint32]departure
	took     func(units.Time) // takes the latency of each message that is through
}

// A departure is a message that is under way.
type departure struct {
	at     units.Time // when it arrived at the application
	target int
}

// newSource makes the application of an endpoint that sends a load to others, nothing if
// there are none.
func newSource(load Load, targets []topo.HostID, took func(units.Time)) *source {
	s := &source{load: load, targets: targets, underWay: map[uint32]departure{}, took: took}
	for range targets {
		s.free = append(s.free, max(1, load.Outstanding))
	}
	s.plan()
	return s
}

func (s *source) open() bool { return s.load.Outstanding == 0 }

// plan works out when the next message arrives.
func (s *source) plan() {
	s.next = units.Never
	if len(s.targets) == 0 || s.load.Count > 0 && s.sent >= s.load.Count {
		return
	}
	at := units.Time(0)
	if s.open() {
		if len(s.underWay) >= mostUnderWay {
			return
		}
		at = units.Time(math.Round(float64(s.sent) * float64(s.load.Gap)))
	} else {
		if !s.seekFree() {
			return
		}
		if at = s.freeAt; s.sent > 0 {
			at = max(at, s.last+s.load.Gap)
		}
	}
	if s.load.For == 0 || at < s.load.For {
		s.next = at
	}
}

// seekFree passes over targets to which as many messages are under way as may be.
func (s *source) seekFree() bool {
	for range s.targets {
		if s.free[s.turn] > 0 {
			return true
		}
		s.turn = (s.turn + 1) % len(s.targets)
	}
	return false
}

// NextAt implements host.Source.
func (s *source) NextAt() units.Time { return s.next }

// Pop implements host.Source.
func (s *source) Pop() (traffic.Arrival, bool) {
	if s.next == units.Never {
		return traffic.Arrival{}, false
	}
	tag := traffic.Tag(s.sent & indexMask)
	s.underWay[uint32(tag)] = departure{s.next, s.turn}
	a := traffic.Arrival{At: s.next, Dst: s.targets[s.turn], Size: s.load.Size, Tag: tag}
	if s.load.Answered {
		a.Tag |= answeredBit
		a.Reply = AnswerSize
	}
	s.free[s.turn]--
	s.turn = (s.turn + 1) % len(s.targets)
	s.last = s.next
	s.sent++
	s.plan()
	return a, true
}

// Err implements host.Source.
func (s *source) Err() error { return nil }

// Completed implements host.Source.
func (s *source) Completed(tag traffic.Tag, now units.Time) { s.end(tag, now, true) }

// end ends a message that went through, or did not.
func (s *source) end(tag traffic.Tag, now units.Time, through bool) {
	index := uint32(tag & indexMask)
	d, ok := s.underWay[index]
	if !ok {
		return
	}
	delete(s.underWay, index)
	if through {
		s.took(now - d.at)
	}
	s.free[d.target]++
	s.freeAt = now
	s.plan()
}

// ReplySize implements host.Source.
func (s *source) ReplySize(tag traffic.Tag) units.Bytes {
	if tag.IsReply() || tag&answeredBit == 0 {
		return 0
	}
	return AnswerSize
}

// done reports whether no message is to come, or under way.
func (s *source) done(now units.Time) bool {
	if len(s.underWay) > 0 {
		return false
	}
	return s.next == units.Never || s.load.For > 0 && now >= s.load.For
}
