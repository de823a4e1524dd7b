package traffic

import (
	"fmt"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An Arrival is a message that reaches the sending application.
type Arrival struct {
	At     units.Time // nominal
	Dst    topo.HostID
	Size   units.Bytes // payload, at least 1
	Reply  units.Bytes // size of the reply that Dst is to send, 0 for none
	Tag    Tag
	Incast bool // of an incast burst: not counted in slowdown
}

// A generator makes one stream's messages at one host.
type generator interface {
	// at returns when the next message arrives, units.Never if none does unless
	// another completes.
	at() units.Time
	// pop returns the message that at announced, all but its tag and reply,
	// and its index, and moves on to the next.
	pop() (a Arrival, index int)
}

// A closedLoop is a generator whose messages depend on earlier ones.
type closedLoop interface {
	completed(index int, now units.Time)
}

// A lane is one stream at the Source's host.
type lane struct {
	generator
	stream int
	end    units.Time // arrivals are before it
	next   units.Time // arrival to come, units.Never if none
}

func (l *lane) refresh() {
	l.next = l.at()
	if l.next >= l.end {
		l.next = units.Never
	}
}

// A Source is the application at one host: the messages that it sends, in
// order of time, ties in the order of the streams. It allocates nothing per
// message of an open-loop stream. A Source is not safe for concurrent use.
type Source struct {
	streams []Stream
	lanes   []lane
	first   int // lane of the next arrival, -1 if there is none
	err     error
}

// NewSource makes the source of host self for messages that arrive in
// [0, until). It fails with a *FieldError on streams that are not valid, or
// that would have a host send more messages than a Tag can count. streams must
// not change while the Source is in use.
func NewSource(f *topo.Fabric, streams []Stream, seed uint64, self topo.HostID, until units.Time) (*Source, error) {
	if self < 0 || int(self) >= len(f.Hosts) {
		return nil, fmt.Errorf("traffic of host %d: the fabric has %d hosts", self, len(f.Hosts))
	}
	if err := Validate(f, streams); err != nil {
		return nil, err
	}
	s := &Source{streams: streams}
	for i := range streams {
		end := until
		if stop := streams[i].Stop; stop != 0 {
			end = min(end, stop)
		}
		g, err := streams[i].generator(f, seed, self, end)
		if err != nil {
			return nil, within(i, err)
		}
		if g != nil {
			l := lane{generator: g, stream: i, end: end}
			l.refresh()
			s.lanes = append(s.lanes, l)
		}
	}
	s.findFirst()
	return s, nil
}

// generator makes the part of a valid stream that host self sends, nil if it
// sends nothing.
func (s *Stream) generator(f *topo.Fabric, seed uint64, self topo.HostID, end units.Time) (generator, error) {
	switch s.Pattern {
	case PatternPoisson:
		return s.poisson(f, seed, self, end)
	case PatternFixed:
		return s.fixed(f, seed, self, end)
	case PatternIncast:
		return s.incast(f, seed, self, end)
	case PatternOutcast:
		return s.outcast(f, self), nil
	default:
		return s.replay(f, self), nil
	}
}

func (s *Source) findFirst() {
	s.first = -1
	earliest := units.Never
	for i := range s.lanes {
		if s.lanes[i].next < earliest {
			s.first, earliest = i, s.lanes[i].next
		}
	}
}

// NextAt returns when the next message arrives, units.Never if none is due. A call of
// Completed may bring it forward.
func (s *Source) NextAt() units.Time {
	if s.first < 0 {
		return units.Never
	}
	return s.lanes[s.first].next
}

// Pop returns the message that arrives at NextAt, false when there is none.
func (s *Source) Pop() (Arrival, bool) {
	if s.first < 0 {
		return Arrival{}, false
	}
	l := &s.lanes[s.first]
	a, index := l.pop()
	tag, err := MakeTag(l.stream, index)
	if err != nil {
		s.err = fmt.Errorf("stream %q: %w", s.streams[l.stream].Name, err)
		s.first, s.lanes = -1, nil
		return Arrival{}, false
	}
	a.Tag = tag
	a.Reply = s.ReplySize(tag)
	l.refresh()
	s.findFirst()
	return a, true
}

// Err returns why a Source ended early: a stream had more messages than a Tag can
// count. Poisson streams that come close, and closed loops, can.
func (s *Source) Err() error { return s.err }

// Completed reports that a message of this host, or the reply to it where it has one,
// was delivered or has failed: in a closed loop the next may follow, and
// arrives at now. Other messages, and those completed before, are ignored. now
// must not decrease from one call to the next.
func (s *Source) Completed(tag Tag, now units.Time) {
	for i := range s.lanes {
		l := &s.lanes[i]
		if l.stream != tag.Stream() {
			continue
		}
		if loop, ok := l.generator.(closedLoop); ok {
			loop.completed(tag.Index(), now)
			l.refresh()
			s.findFirst()
		}
		return
	}
}

// ReplySize returns the size of the reply that a request of the given tag,
// from any host, is answered with. It is 0 if there is no reply to it, if tag
// is a reply itself, or if no such message exists.
func (s *Source) ReplySize(tag Tag) units.Bytes {
	if tag.IsReply() || tag.Stream() >= len(s.streams) {
		return 0
	}
	stream := &s.streams[tag.Stream()]
	if stream.Pattern != PatternList {
		return stream.Reply
	}
	if tag.Index() >= len(stream.Messages) {
		return 0
	}
	return stream.Messages[tag.Index()].Reply
}
