package live

import (
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// messages matches what senders and receivers log of messages, and collects the slowdowns
// of those that have ended. Which count, and how, is as in package results: messages that
// arrived in the window, requests with their replies, incast apart.
type messages struct {
	x  *emu.Experiment
	f  *topo.Fabric
	by map[key]half // messages of which one end is known, at most maxHalves

	offered, done, failed int // replies are no messages here
	lost                  int // not followed, for there were too many at once
	slowdowns             []histogram
	unloaded              map[path]units.Time // at most maxUnloaded
}

// maxHalves and maxUnloaded limit the memory that a run of many messages takes.
const (
	maxHalves   = 1 << 20
	maxUnloaded = 1 << 16
)

// A key is a message as both ends know it: one-way ones by their ID, requests that are
// answered by their tag, as the reply has it too.
type key struct {
	src, dst topo.HostID
	id       uint32
	answered bool
}

// A half is one end of a message.
type half struct {
	at   units.Time // offered or completed
	size units.Bytes
	tag  traffic.Tag
	done bool // at is the completion
}

type path struct {
	src, dst topo.HostID
	size     units.Bytes
}

func newMessages(x *emu.Experiment, f *topo.Fabric) messages {
	return messages{
		x: x, f: f, by: map[key]half{}, unloaded: map[path]units.Time{},
		slowdowns: make([]histogram, len(results.DefaultBorders)+1),
	}
}

// take takes what a host has logged of a message.
func (m *messages) take(h topo.HostID, r *record.Record) {
	peer, tag := topo.HostID(r.Peer), traffic.Tag(r.Tag)
	answered := m.replySize(tag.Request()) > 0 && !m.requestOnly(tag)
	k := key{src: h, dst: peer, id: r.ID}
	if answered {
		k.id, k.answered = uint32(tag.Request()), true
	}
	switch {
	case r.Kind == record.Offered && !tag.IsReply():
		m.offered++
		m.match(k, half{r.At, units.Bytes(r.N), tag, false})
	case r.Kind == record.Failed && !tag.IsReply():
		m.failed++
		delete(m.by, k)
	case r.Kind == record.Delivered && answered && tag.IsReply(): // at the host that asked
		m.match(k, half{r.At, units.Bytes(r.N), tag, true})
	case r.Kind == record.Delivered && !answered && !tag.IsReply():
		k.src, k.dst = peer, h
		m.match(k, half{r.At, units.Bytes(r.N), tag, true})
	}
}

// match takes one end of a message. Logs of hosts are read one after another, so that
// either may come first.
func (m *messages) match(k key, one half) {
	other, ok := m.by[k]
	switch {
	case ok && other.done != one.done && other.tag.Request() == one.tag.Request(): // of one life of its source
		delete(m.by, k)
		m.done++
		if one.done {
			other, one = one, other
		}
		m.completed(k, one, other.at)
	case !ok && len(m.by) == maxHalves:
		m.lost++
	default:
		m.by[k] = one
	}
}

// completed takes a message whose offer and end are known.
func (m *messages) completed(k key, offered half, at units.Time) {
	from, to := m.x.Window()
	n := offered.tag.Stream()
	if offered.at < from || offered.at >= to || n >= len(m.x.Streams) ||
		m.x.Streams[n].Pattern == traffic.PatternIncast {
		return
	}
	fastest := m.fastest(path{k.src, k.dst, offered.size})
	if k.answered {
		fastest += m.fastest(path{k.dst, k.src, m.replySize(offered.tag)})
	}
	if fastest > 0 && at >= offered.at {
		m.slowdowns[groupOf(offered.size)].add(float64(at-offered.at) / float64(fastest))
	}
}

// groupOf is the index of a size's group, A being 0.
func groupOf(size units.Bytes) int {
	i := 0
	for i < len(results.DefaultBorders) && size >= results.DefaultBorders[i] {
		i++
	}
	return i
}

func (m *messages) fastest(p path) units.Time {
	if p.src == p.dst || p.size <= 0 {
		return 0
	}
	t, ok := m.unloaded[p]
	if !ok {
		t = m.f.FastestPaper(p.src, p.dst, p.size)
		if len(m.unloaded) < maxUnloaded {
			m.unloaded[p] = t
		}
	}
	return t
}

func (m *messages) requestOnly(t traffic.Tag) bool {
	return t.Stream() < len(m.x.Streams) && m.x.Streams[t.Stream()].Latency == traffic.LatencyRequest
}

// replySize is what a request is answered with, 0 for one-way messages.
func (m *messages) replySize(t traffic.Tag) units.Bytes {
	if t.Stream() >= len(m.x.Streams) {
		return 0
	}
	s := &m.x.Streams[t.Stream()]
	if s.Pattern == traffic.PatternList && t.Index() < len(s.Messages) {
		return s.Messages[t.Index()].Reply
	}
	return s.Reply
}
