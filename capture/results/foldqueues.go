package results

import (
	"sirdbed/capture/stats"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// portBits is how finely depths of single ports are told apart: to 1 % and better. There
// are hundreds of ports.
const portBits = 7

// The classes of queues whose curves a Fold keeps.
const (
	LeafQueues     = "leaf"     // the sum over a leaf's ports: the papers' ToR queue
	SpineQueues    = "spine"    // the sum over a spine's ports
	DownlinkQueues = "downlink" // a leaf's port to a host
	UplinkQueues   = "uplink"   // a host's port
	CoreQueues     = "core"     // a port between a leaf and a spine
)

// A queueFold computes queues' statistics from their log as it is written. A sample holds
// from its tick to the next one.
type queueFold struct {
	l        *rawLogs
	from, to units.Time
	course   *course
	now      []int64 // by PortID: bytes, as of the samples so far
	ports    []depth
	nodes    []depth // by NodeID
	classes  map[string]*stats.Histogram
	class    []string // by PortID
	ticks    int      // in the window
	tick     units.Time
	began    bool
}

// A depth is one queue's over the window: how long it was how deep.
type depth struct {
	held  int64 // bytes as of the latest tick
	since units.Time
	hist  *stats.Histogram
}

func newQueueFold(l *rawLogs, c *course) *queueFold {
	q := &queueFold{
		l: l, course: c, now: make([]int64, len(l.fabric.Ports)), ports: make([]depth, len(l.fabric.Ports)),
		nodes: make([]depth, len(l.fabric.Nodes)), class: make([]string, len(l.fabric.Ports)),
		classes: map[string]*stats.Histogram{},
	}
	q.from, q.to = l.x.Window()
	for _, name := range []string{LeafQueues, SpineQueues, DownlinkQueues, UplinkQueues, CoreQueues} {
		q.classes[name] = &stats.Histogram{}
	}
	for i := range q.ports {
		q.ports[i].hist = stats.NewHistogram(portBits)
		switch p := &l.fabric.Ports[i]; {
		case p.Core:
			q.class[i] = CoreQueues
		case l.fabric.Nodes[p.Node].Kind == topo.Host:
			q.class[i] = UplinkQueues
		default:
			q.class[i] = DownlinkQueues
		}
	}
	for i := range q.nodes {
		q.nodes[i].hist = &stats.Histogram{}
	}
	return q
}

// take takes a record of the log. The samples of a tick come before it.
func (q *queueFold) take(r *record.Record) {
	switch r.Kind {
	case record.Queue:
		if int(r.Peer) >= len(q.now) {
			q.l.problem(QueueLogCut, "queues: a sample of port number %d, and there are %d ports", r.Peer, len(q.now))
			return
		}
		q.now[r.Peer] = r.N
		q.l.queues.Ports[r.Peer] = append(q.l.queues.Ports[r.Peer][:0],
			QueueSample{At: r.At, Until: r.At + units.Time(r.Tag), Bytes: r.N, Packets: int64(r.ID)})
	case record.Tick:
		q.sampled(r.At)
	case record.Note:
		q.l.problem(Note, "queues: %s", r.Text)
	}
}

// sampled is a tick. What a queue held before it, it held until now.
func (q *queueFold) sampled(at units.Time) {
	if q.began && at < q.tick {
		q.l.problem(QueueLogCut, "queues: time goes back from %v to %v", q.tick, at)
		at = q.tick
	}
	q.began, q.tick = true, at
	if at >= q.from && at < q.to {
		q.ticks++
	}
	f := q.l.fabric
	deepest, leaves := int64(0), int64(0)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind == topo.Host {
			continue
		}
		sum := int64(0)
		for _, p := range n.Ports {
			sum += q.now[p]
		}
		q.hold(&q.nodes[i], sum, at, n.Kind.String())
		if n.Kind == topo.Leaf {
			deepest, leaves = max(deepest, sum), leaves+sum
		}
	}
	for i := range q.ports {
		q.hold(&q.ports[i], q.now[i], at, q.class[i])
	}
	q.course.queues(at, deepest, float64(leaves)/float64(max(f.Spec.Leaves, 1)))
}

// hold notes that a queue is so deep from now on.
func (q *queueFold) hold(d *depth, bytes int64, at units.Time, class string) {
	if bytes == d.held && d.since >= q.from {
		return
	}
	q.count(d, at, class)
	d.held, d.since = bytes, at
}

// count counts what a queue held until a time, of which the window counts.
func (q *queueFold) count(d *depth, until units.Time, class string) {
	if span := min(until, q.to) - max(d.since, q.from); span > 0 {
		d.hist.Add(float64(d.held), uint64(span))
		q.classes[class].Add(float64(d.held), uint64(span))
	}
}

// result is the summary over the window, which ended at to.
func (q *queueFold) result(to units.Time) QueueSummary {
	f := q.l.fabric
	q.to = min(q.to, to)
	r := QueueSummary{Samples: q.ticks, Switches: map[string]QueueStats{}, Ports: map[string]QueueStats{}}
	if q.ticks == 0 {
		return r
	}
	all := &stats.Histogram{}
	for i := range f.Ports {
		p, d := &f.Ports[i], &q.ports[i]
		q.count(d, q.to, q.class[i])
		r.Ports[p.Name] = depths(d.hist)
		if f.Nodes[p.Node].Kind != topo.Host {
			r.MaxPort = max(r.MaxPort, r.Ports[p.Name].Max)
		}
	}
	for i := range f.Nodes {
		n, d := &f.Nodes[i], &q.nodes[i]
		if n.Kind == topo.Host {
			continue
		}
		q.count(d, q.to, n.Kind.String())
		r.Switches[n.Name] = depths(d.hist)
		all.Merge(d.hist)
	}
	s := depths(all)
	r.Max, r.Mean, r.P99, r.P999 = s.Max, s.Mean, s.P99, s.P999
	return r
}

func depths(h *stats.Histogram) QueueStats {
	return QueueStats{
		Max: int64(h.Max()), Mean: h.Mean(), P99: int64(h.Quantile(0.99)), P999: int64(h.Quantile(0.999)),
	}
}
