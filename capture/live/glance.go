package live

import (
	"cmp"
	"slices"
	"time"

	"sirdbed/capture/results"
	"sirdbed/topo"
)

// A Glance is a variant in a few figures.
type Glance struct {
	Variant    string     `json:"variant"`
	State      State      `json:"state"`
	Number     int        `json:"number"` // from 1
	Of         int        `json:"of"`
	Seconds    float64    `json:"seconds"` // of wall time so far
	Reached    int64      `json:"reached"` // nominal ns
	End        int64      `json:"end"`
	Gbps       float64    `json:"gbps"` // per host, over the window so far, or the warm-up
	Hosts      []NamedBps `json:"hosts"`
	Queues     []Queue    `json:"queues"` // the deepest, at most maxShown
	Offered    int        `json:"offered"`
	Done       int        `json:"done"`
	Failed     int        `json:"failed"`
	Slowdowns  []Slowdown `json:"slowdowns"` // all sizes first, then by group
	Total      []float64  `json:"-"`         // Gbps of all hosts by column, as far as complete
	NotCounted int        `json:"not_counted,omitempty"`
}

// A NamedBps is the goodput of a host in Gbps.
type NamedBps struct {
	Name string  `json:"name"`
	Gbps float64 `json:"gbps"`
}

// A Queue is what waits at a switch's port, and waited at most, in bytes.
type Queue struct {
	Name    string `json:"name"`
	Now     int64  `json:"now"`
	Deepest int64  `json:"deepest"`
}

// A Slowdown is that of the messages of a size group that have ended.
type Slowdown struct {
	Group string  `json:"group"`
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

// maxShown is how many hosts and queues a Glance names.
const maxShown = 8

// Glance returns the current variant in a few figures, nil before the first.
func (r *Run) Glance() *Glance {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.glance()
}

func (r *Run) glance() *Glance {
	if r.current < 0 {
		return nil
	}
	s := r.variants[r.current]
	if s.last != nil {
		return s.last
	}
	g := &Glance{Variant: s.name, State: s.state, Number: r.current + 1, Of: len(r.variants), Reached: int64(s.reached)}
	g.Seconds = s.took.Seconds()
	if s.took == 0 {
		g.Seconds = time.Since(s.started).Seconds()
	}
	if s.reader != nil && s.reader.variant != nil {
		s.reader.variant.glance(g)
	}
	return g
}

func (v *Variant) glance(g *Glance) {
	g.End = int64(v.X.End())
	g.Reached = min(g.End, max(g.Reached, int64(v.upTo())))
	v.goodput(g)
	v.deepest(g)
	m := &v.messages
	g.Offered, g.Done, g.Failed, g.NotCounted = m.offered, m.done, m.failed, m.lost
	var all histogram
	for i := range m.slowdowns {
		all.merge(&m.slowdowns[i])
	}
	if all.n == 0 {
		return
	}
	g.Slowdowns = []Slowdown{slowdownOf(results.AllSizes, &all)}
	for i := range m.slowdowns {
		if h := &m.slowdowns[i]; h.n > 0 {
			g.Slowdowns = append(g.Slowdowns, slowdownOf(string(rune('A'+i)), h))
		}
	}
}

func slowdownOf(group string, h *histogram) Slowdown {
	return Slowdown{group, h.n, h.quantile(0.5), h.quantile(0.99)}
}

// goodput fills in that over the window so far, or before it that of the warm-up.
func (v *Variant) goodput(g *Glance) {
	from, to := v.X.Window()
	first, last := v.time.of(from+v.time.width-1), min(v.complete(), v.time.of(to))
	if last <= first { // warming up
		first = 0
	}
	span := v.time.begin(last) - v.time.begin(first)
	sums := make([]float64, len(v.hosts))
	for i := range v.complete() {
		total := 0.0
		for h, n := range v.cols[i].received {
			if total += n; i >= first && i < last {
				sums[h] += n
			}
		}
		g.Total = append(g.Total, results.Gbps(total, v.time.width))
	}
	for h, n := range sums {
		gbps := results.Gbps(n, span)
		g.Gbps += gbps / float64(len(sums))
		if gbps > 0 {
			g.Hosts = append(g.Hosts, NamedBps{v.Fabric.HostName(topo.HostID(h)), gbps})
		}
	}
	slices.SortStableFunc(g.Hosts, func(a, b NamedBps) int { return cmp.Compare(b.Gbps, a.Gbps) })
	g.Hosts = g.Hosts[:min(len(g.Hosts), maxShown)]
}

// deepest fills in the deepest queues of switches.
func (v *Variant) deepest(g *Glance) {
	for i := range v.ports {
		port, p := &v.Fabric.Ports[i], &v.ports[i]
		if v.Fabric.Nodes[port.Node].Kind != topo.Host && p.deepest > 0 {
			g.Queues = append(g.Queues, Queue{port.Name, p.level, p.deepest})
		}
	}
	slices.SortStableFunc(g.Queues, func(a, b Queue) int { return cmp.Compare(b.Deepest, a.Deepest) })
	g.Queues = g.Queues[:min(len(g.Queues), maxShown)]
}
