package results

import (
	"cmp"
	"slices"

	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Message is one message by the logs of its sender and its receiver. A time is
// units.Never where the event did not happen.
type Message struct {
	Src, Dst topo.HostID
	ID       uint32 // among those from Src to Dst
	Tag      traffic.Tag
	Size     units.Bytes // payload

	Offered   units.Time // nominal arrival at the sender's application
	Delivered units.Time // all of it at the receiver; Acked where that is opaque
	Acked     units.Time // the sender knew of the delivery
	Failed    units.Time // the sender gave up
	Failure   string

	// Completed is the end of the latency: Delivered, or for a request that is
	// answered the reply's Delivered, unless its stream says that only requests are
	// measured (scenarios/README, Slowdown).
	Completed units.Time
	Reply     int // index of the reply among the variant's messages, -1: none

	// Unloaded latency by both definitions, from Offered to Completed, over all paths
	// together (scenarios/README, Slowdown).
	UnloadedPaper, UnloadedExact units.Time
	// UnloadedAcked is that from Offered to Acked, 0 where it is not wanted.
	UnloadedAcked units.Time

	Class Class

	life, deliveredIn int // lives of the source and of the destination
}

// Class reports whether a message counts in the latency statistics.
type Class uint8

// The classes of message.
const (
	Measured Class = iota // arrived in the window and completed
	Warmup                // arrived before the window
	TooLate               // arrived so late that it could not have finished even unloaded
	Unfinished
	GaveUp     // failed, or its reply did
	ReplyToOne // a reply: its latency is in its request's
	After      // arrived after the window
)

func (c Class) String() string {
	return [...]string{"measured", "warmup", "too late", "unfinished", "failed", "reply", "after"}[c]
}

// Latency is the time from nominal arrival to completion, 0 if the message did not
// complete.
func (m *Message) Latency() units.Time {
	if m.Completed == units.Never {
		return 0
	}
	return m.Completed - m.Offered
}

// A messageKey names a message among all of a run. A host that has restarted numbers its
// messages from 0 again.
type messageKey struct {
	src, dst topo.HostID
	id       uint32
	life     int // of src
}

// join makes messages of the records of all hosts, ordered by source,
// destination and ID, those of one ID by the lives of the source.
func (l *rawLogs) join() []Message {
	var list []Message
	index := map[messageKey]int{}
	lives := make([]int, len(l.hosts)) // by host: its last
	for h := range l.hosts {
		src := topo.HostID(h)
		for _, r := range l.hosts[h].messages {
			switch r.Kind {
			case record.Restarted:
				lives[h]++
				continue
			case record.Offered:
			default:
				continue
			}
			k := messageKey{src, topo.HostID(r.Peer), r.ID, lives[h]}
			if _, twice := index[k]; twice {
				l.problem(Integrity, "%s offered message %d to %s twice", l.fabric.HostName(src), r.ID,
					l.fabric.HostName(k.dst))
				continue
			}
			index[k] = len(list)
			list = append(list, Message{
				Src: src, Dst: k.dst, ID: r.ID, Tag: traffic.Tag(r.Tag), Size: units.Bytes(r.N),
				Offered: r.At, Reply: -1, life: k.life,
				Delivered: units.Never, Acked: units.Never, Failed: units.Never, Completed: units.Never,
			})
		}
	}
	unknown := map[topo.HostID]int{} // by source
	for h := range l.hosts {
		self, life := topo.HostID(h), 0
		for _, r := range l.hosts[h].messages {
			k := messageKey{self, topo.HostID(r.Peer), r.ID, life}
			switch r.Kind {
			case record.Offered:
				continue
			case record.Restarted:
				life++
				continue
			case record.Delivered:
				k.src, k.dst = k.dst, k.src
				k.life = l.lifeOf(list, index, k, lives[k.src], &r)
			}
			i, ok := index[k]
			if !ok {
				if l.hosts[k.src].complete {
					unknown[k.src]++
				}
				continue // its offer may be in the part of the sender's log that was lost
			}
			l.happened(&list[i], &r, life)
		}
	}
	for h := range l.hosts {
		if n := unknown[topo.HostID(h)]; n > 0 {
			l.problem(Integrity, "%d messages from %s were delivered or acknowledged and never offered", n,
				l.fabric.HostName(topo.HostID(h)))
		}
	}
	l.findUnseen(list)
	slices.SortFunc(list, func(a, b Message) int { return compareMessages(&a, &b) })
	return list
}

// compareMessages orders messages by source, destination and ID, those of one ID by the
// lives of the source.
func compareMessages(a, b *Message) int {
	return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.life, b.life))
}

// findUnseen finds messages that were acknowledged and never delivered, by receivers whose
// logs are complete.
func (l *rawLogs) findUnseen(list []Message) {
	unseen := make([]int, len(l.hosts)) // by destination
	for i := range list {
		m := &list[i]
		if m.Acked != units.Never && m.Delivered == units.Never && l.hosts[m.Dst].complete {
			unseen[m.Dst]++
		}
	}
	for h, n := range unseen {
		if n > 0 {
			l.problem(Integrity, "%d messages to %s were acknowledged and never delivered", n,
				l.fabric.HostName(topo.HostID(h)))
		}
	}
}

// lifeOf returns the life of a message's source that it was offered in: the one with the
// tag that it was delivered with, since a source uses no tag twice.
func (l *rawLogs) lifeOf(list []Message, index map[messageKey]int, k messageKey, last int, r *record.Record) int {
	for k.life = last; k.life > 0; k.life-- {
		if i, ok := index[k]; ok && list[i].Tag == traffic.Tag(r.Tag) {
			break
		}
	}
	return k.life
}

// happened notes what a host has logged of a message, in one of the host's lives.
func (l *rawLogs) happened(m *Message, r *record.Record, life int) {
	name := func() string { return l.fabric.HostName(m.Src) + ">" + l.fabric.HostName(m.Dst) }
	if traffic.Tag(r.Tag) != m.Tag || units.Bytes(r.N) != m.Size {
		l.problem(Integrity, "message %d %s was offered with %d bytes and tag %v, and ended with %d bytes and tag %v",
			m.ID, name(), int64(m.Size), m.Tag, r.N, traffic.Tag(r.Tag))
	}
	switch r.Kind {
	case record.Delivered:
		if m.Delivered != units.Never && m.deliveredIn != life {
			return // to a life that knows nothing of the one before: once is once for each
		}
		if m.Delivered != units.Never {
			l.problem(Integrity, "message %d %s was delivered twice, at %v and at %v", m.ID, name(), m.Delivered, r.At)
			return
		}
		if r.At < m.Offered-l.clockError(m.Src)-l.clockError(m.Dst) {
			l.problem(Integrity, "message %d %s was delivered at %v, before it was offered at %v", m.ID, name(), r.At,
				m.Offered)
		}
		m.Delivered, m.deliveredIn = r.At, life
	case record.Acked:
		if m.Acked != units.Never {
			l.problem(Integrity, "message %d %s was acknowledged twice", m.ID, name())
			return
		}
		m.Acked = r.At
		if l.isOpaque(m.Dst) { // which logs nothing: its sender knows of it by now
			m.Delivered = r.At
		}
	case record.Failed:
		m.Failed, m.Failure = r.At, r.Text
	}
}

// complete joins requests with their replies, works out every message's
// unloaded latency and says which count. end is when the run ended; framing is
// nil where the protocol's is not known.
func (l *rawLogs) complete(list []Message, framing *topo.Framing, end units.Time) {
	type request struct {
		src, dst topo.HostID
		tag      traffic.Tag
	}
	replies := map[request]int{}
	for i := range list {
		if m := &list[i]; m.Tag.IsReply() {
			replies[request{m.Dst, m.Src, m.Tag.Request()}] = i
		}
	}
	from, to := l.x.Window()
	for i := range list {
		m := &list[i]
		m.Completed = m.Delivered
		m.addUnloaded(l.fabric, m.Src, m.Dst, m.Size, framing)
		if size := l.replySize(m.Tag); size > 0 && !m.Tag.IsReply() && !l.requestOnly(m.Tag) {
			m.addUnloaded(l.fabric, m.Dst, m.Src, size, framing)
			m.Completed = units.Never
			if j, ok := replies[request{m.Src, m.Dst, m.Tag}]; ok {
				m.Reply, m.Completed = j, list[j].Delivered
			}
		}
		failed := m.Failed != units.Never || (m.Reply >= 0 && list[m.Reply].Failed != units.Never)
		m.classify(from, to, end, failed)
	}
}

// classify says whether a message counts, of which Completed and the unloaded latencies
// are known. failed says that it or its reply failed, end is when the run ended.
func (m *Message) classify(from, to, end units.Time, failed bool) {
	switch {
	case m.Tag.IsReply():
		m.Class = ReplyToOne
	case m.Offered < from:
		m.Class = Warmup
	case m.Offered >= to:
		m.Class = After
	case m.Completed != units.Never:
		m.Class = Measured
	case failed:
		m.Class = GaveUp
	case m.Offered+max(m.UnloadedExact, m.UnloadedPaper) > end:
		m.Class = TooLate
	default:
		m.Class = Unfinished
	}
}

// addUnloaded adds the unloaded latencies of a message or of its reply.
func (m *Message) addUnloaded(f *topo.Fabric, src, dst topo.HostID, size units.Bytes, framing *topo.Framing) {
	if src == dst || size <= 0 {
		return
	}
	m.UnloadedPaper += f.FastestPaper(src, dst, size)
	if framing != nil {
		m.UnloadedExact += f.FastestExact(src, dst, size, *framing)
	}
}

// addUnloadedToAck works out the unloaded latency until the sender knows of the delivery: a
// message that is answered with a packet of the smallest size.
func (m *Message) addUnloadedToAck(f *topo.Fabric, framing topo.Framing) {
	if m.Src != m.Dst && m.Size > 0 {
		m.UnloadedAcked = f.FastestExact(m.Src, m.Dst, m.Size, framing) + f.FastestExact(m.Dst, m.Src, 1, framing)
	}
}

// Fastest is what no message can be faster than: UnloadedExact or, if framing is not
// known, UnloadedPaper.
func (m *Message) Fastest() units.Time { return cmp.Or(m.UnloadedExact, m.UnloadedPaper) }

// requestOnly reports that the stream's latency is that of requests alone.
func (l *rawLogs) requestOnly(t traffic.Tag) bool {
	return t.Stream() < len(l.x.Streams) && l.x.Streams[t.Stream()].Latency == traffic.LatencyRequest
}

// replySize is the size of the reply that a message of the stream is answered
// with, 0 for one-way messages.
func (l *rawLogs) replySize(t traffic.Tag) units.Bytes {
	if t.Stream() >= len(l.x.Streams) {
		return 0
	}
	s := &l.x.Streams[t.Stream()]
	if s.Pattern == traffic.PatternList && t.Index() < len(s.Messages) {
		return s.Messages[t.Index()].Reply
	}
	return s.Reply
}
