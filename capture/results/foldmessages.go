package results

import (
	"math/bits"
	"slices"

	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A foldKey names a message: a source uses no tag twice to one destination.
type foldKey struct {
	src, dst uint16
	tag      traffic.Tag
}

// A folded is a message of which not all is known yet. Logs come in batches, so that it
// may be delivered before it is offered.
type folded struct {
	Message
	known   bool       // it was offered
	replied units.Time // its reply was delivered
	lost    bool       // its reply failed
}

// happened takes what a host has logged of a message.
func (f *Fold) happened(h topo.HostID, r *record.Record) {
	if int(r.Peer) >= len(f.l.hosts) {
		f.l.problem(Integrity, "%s logged a message of host number %d, and there are %d hosts",
			f.l.fabric.HostName(h), r.Peer, len(f.l.hosts))
		return
	}
	src, dst := h, topo.HostID(r.Peer)
	if r.Kind == record.Delivered {
		src, dst = dst, src
	}
	m := f.message(src, dst, traffic.Tag(r.Tag))
	if r.Kind == record.Offered {
		if m.known {
			f.l.problem(Integrity, "%s offered message %d to %s twice", f.l.fabric.HostName(src), r.ID,
				f.l.fabric.HostName(dst))
			return
		}
		if m.Size >= 0 && m.Size != units.Bytes(r.N) {
			f.otherSize(m, r)
		}
		f.count++
		m.known, m.ID, m.Size, m.Offered = true, r.ID, units.Bytes(r.N), r.At
		f.course.offer(r.At, r.N)
		if m.Delivered != units.Never && m.Delivered < r.At {
			f.l.problem(Integrity, "message %d was delivered at %v, before it was offered at %v", r.ID, m.Delivered,
				r.At)
		}
	} else {
		if m.Size < 0 {
			m.Size, m.ID = units.Bytes(r.N), r.ID
		} else if m.Size != units.Bytes(r.N) {
			f.otherSize(m, r)
		}
		if m.known || r.Kind != record.Delivered {
			f.l.happened(&m.Message, r, 0)
		} else if m.Delivered != units.Never {
			f.l.problem(Integrity, "message %d was delivered twice, at %v and at %v", r.ID, m.Delivered, r.At)
		} else {
			m.Delivered = r.At
		}
	}
	if m.Tag.IsReply() {
		f.replyHappened(m, r)
	}
	f.settle(m)
}

func (f *Fold) otherSize(m *folded, r *record.Record) {
	f.l.problem(Integrity, "message %d %s>%s has %d bytes by one log and %d by another", r.ID,
		f.l.fabric.HostName(m.Src), f.l.fabric.HostName(m.Dst), int64(m.Size), r.N)
}

// message finds a message that is not settled, or begins one.
func (f *Fold) message(src, dst topo.HostID, tag traffic.Tag) *folded {
	k := foldKey{uint16(src), uint16(dst), tag}
	m := f.open[k]
	if m != nil {
		return m
	}
	if n := len(f.free); n > 0 {
		m, f.free = f.free[n-1], f.free[:n-1]
	} else {
		m = &folded{}
	}
	*m = folded{
		Message: Message{
			Src: src, Dst: dst, Tag: tag, Size: -1, Reply: -1, Offered: units.Never,
			Delivered: units.Never, Acked: units.Never, Failed: units.Never, Completed: units.Never,
		},
		replied: units.Never,
	}
	f.open[k] = m
	return m
}

// replyHappened tells a request whose latency includes the reply.
func (f *Fold) replyHappened(reply *folded, r *record.Record) {
	if r.Kind != record.Delivered && r.Kind != record.Failed || f.l.requestOnly(reply.Tag) {
		return
	}
	request := f.message(reply.Dst, reply.Src, reply.Tag.Request())
	if r.Kind == record.Delivered {
		request.replied = r.At
	} else {
		request.lost = true
	}
	f.settle(request)
}

// answered reports whether a message's latency is that until its reply, and its size.
func (f *Fold) answered(m *folded) (units.Bytes, bool) {
	size := f.l.replySize(m.Tag)
	return size, size > 0 && !m.Tag.IsReply() && !f.l.requestOnly(m.Tag)
}

// settle counts a message of which all is known, and forgets it.
func (f *Fold) settle(m *folded) {
	_, answered := f.answered(m)
	switch {
	case !m.known, m.Delivered == units.Never, m.Acked == units.Never && m.Failed == units.Never,
		answered && m.replied == units.Never && !m.lost:
		return
	}
	f.finish(m, units.Never)
	delete(f.open, foldKey{uint16(m.Src), uint16(m.Dst), m.Tag})
	f.free = append(f.free, m)
}

// finish counts a message, of which no more will be known. end is when the run ended.
func (f *Fold) finish(m *folded, end units.Time) {
	from, to := f.l.x.Window()
	m.UnloadedPaper, m.UnloadedExact, m.UnloadedAcked = 0, 0, 0
	m.Completed = m.Delivered
	m.addUnloaded(f.l.fabric, m.Src, m.Dst, m.Size, f.framing)
	if size, answered := f.answered(m); answered {
		m.addUnloaded(f.l.fabric, m.Dst, m.Src, size, f.framing)
		m.Completed = m.replied
	}
	m.classify(from, to, end, m.Failed != units.Never || m.lost)
	if f.toAck && m.Class == Measured {
		m.addUnloadedToAck(f.l.fabric, *f.framing)
	}
	f.offered += m.within(from, to)
	f.tally.add(&m.Message)
	f.compare(&m.Message)
}

// settleAll counts the messages that never came to their end.
func (f *Fold) settleAll(end units.Time) {
	left := make([]*folded, 0, len(f.open))
	for _, m := range f.open {
		left = append(left, m)
	}
	slices.SortFunc(left, func(a, b *folded) int { return compareMessages(&a.Message, &b.Message) })
	unknown, unseen := make([]int, len(f.l.hosts)), make([]int, len(f.l.hosts))
	for _, m := range left {
		switch {
		case !m.known && m.Size < 0: // nothing but a reply to it
		case !m.known:
			unknown[m.Src]++
		case m.Acked != units.Never && m.Delivered == units.Never:
			unseen[m.Dst]++
		}
		if m.known {
			f.finish(m, end)
		}
	}
	for h := range f.l.hosts {
		name := f.l.fabric.HostName(topo.HostID(h))
		if unknown[h] > 0 && f.l.hosts[h].complete {
			f.l.problem(Integrity, "%d messages from %s were delivered or acknowledged and never offered, or twice",
				unknown[h], name)
		}
		if unseen[h] > 0 && f.l.hosts[h].complete {
			f.l.problem(Integrity, "%d messages to %s were acknowledged and never delivered", unseen[h], name)
		}
	}
}

// A fastestKey is a kind of messages of which the fastest is kept: those of an octave of
// sizes, in a rack or across.
type fastestKey struct {
	octave int
	across bool
	stream int
}

// compare keeps a message if none of its kind has gained more on the unloaded latency.
func (f *Fold) compare(m *Message) {
	if m.Completed == units.Never {
		return
	}
	k := fastestKey{bits.Len64(uint64(m.Size)), f.l.fabric.LeafOf(m.Src) != f.l.fabric.LeafOf(m.Dst), m.Tag.Stream()}
	old, ok := f.fastest[k]
	if !ok || m.Fastest()-m.Latency() > old.Fastest()-old.Latency() {
		f.fastest[k] = *m
	}
}

func (f *Fold) fastestMessages() (list []Message) {
	for _, m := range f.fastest {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Message) int { return compareMessages(&a, &b) })
	return list
}
