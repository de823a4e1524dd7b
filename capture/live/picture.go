package live

import (
	"math"
	"slices"

	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/topo"
)

// A Picture is what the page draws: a run, and of its current variant the columns that
// have changed since the page last asked.
type Picture struct {
	About
	Current  int         `json:"current"` // index of the variant, -1: none yet
	Ended    bool        `json:"ended"`
	Why      string      `json:"why,omitempty"` // what keeps it from being drawn
	Damaged  string      `json:"damaged,omitempty"`
	Seen     []*Glance   `json:"seen"`             // by variant; null of those that wait
	Rev      int         `json:"rev"`              // to be asked with the next time
	Static   *Static     `json:"static,omitempty"` // if the page does not have it
	Complete int         `json:"complete"`         // columns that hold all they will
	Columns  []Column    `json:"columns"`
	Gauges   []GaugeName `json:"gauges,omitempty"` // so far
}

// Static is what does not change while a variant runs.
type Static struct {
	Hosts   []string     `json:"hosts"`
	Leaves  int          `json:"leaves"`
	Spines  int          `json:"spines"`
	Ports   []StaticPort `json:"ports"`
	Width   int64        `json:"width"` // of a column, in ns
	Count   int          `json:"count"` // of columns
	From    int64        `json:"from"`  // the window, in ns
	To      int64        `json:"to"`
	Proto   string       `json:"protocol"`
	BDP     int64        `json:"bdp"`
	Borders []string     `json:"borders"` // of size groups, A first
}

// A StaticPort is one direction of a link. Nodes are counted as in topo.Fabric.
type StaticPort struct {
	Name string  `json:"name"`
	From int     `json:"from"`
	To   int     `json:"to"`
	Gbps float64 `json:"gbps"`
	// Known says that the logs have what it sends: switches' ports are sampled with their
	// queues, hosts log what they send with their gauges, and kernel TCP does not.
	Known bool `json:"known"`
}

// A GaugeName is a gauge's name, its unit, and how many of its own that is.
type GaugeName struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Scale float64 `json:"scale"`
}

// A Column is one stretch of time.
type Column struct {
	At      int        `json:"i"`
	Goodput []float64  `json:"g"` // Gbps by host
	Load    []int      `json:"l"` // per thousand of the link's rate, by port
	Queue   []int64    `json:"q"` // the deepest, in bytes, by port
	Gauge   []*float64 `json:"v"` // of the gauge asked for, by host
}

// A Query is what a page has and wants.
type Query struct {
	Variant int    // that it has, -1: none
	Rev     int    // that it has of it
	Gauge   string // whose values it wants
}

// Picture returns what a page does not have yet.
func (r *Run) Picture(q Query) *Picture {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &Picture{About: r.about, Current: r.current, Ended: r.ended, Why: r.why, Columns: []Column{}}
	for i, v := range r.variants {
		g := v.last
		if i == r.current {
			g = r.glance()
		}
		p.Seen = append(p.Seen, g)
	}
	if r.current < 0 {
		return p
	}
	if reader := r.variants[r.current].reader; reader != nil && reader.variant != nil {
		p.Damaged = reader.damaged
		if q.Variant != r.current {
			q.Rev = 0
		}
		reader.variant.picture(p, q)
	}
	return p
}

func (v *Variant) picture(p *Picture, q Query) {
	p.Rev, p.Complete = v.rev, v.complete()
	if q.Rev == 0 {
		p.Static = v.static()
	} else if q.Rev > v.rev {
		q.Rev = v.rev
	}
	gauge, ok := v.index[q.Gauge]
	if !ok {
		gauge = -1
	}
	for i := range v.cols {
		if c := &v.cols[i]; c.received != nil && c.rev > q.Rev {
			p.Columns = append(p.Columns, v.column(i, gauge))
		}
	}
	for _, name := range v.gauges {
		unit, scale := report.GaugeUnit(name)
		p.Gauges = append(p.Gauges, GaugeName{name, unit, scale})
	}
}

func (v *Variant) static() *Static {
	f := v.Fabric
	from, to := v.X.Window()
	s := &Static{
		Leaves: f.Spec.Leaves, Spines: f.Spec.Spines, Width: int64(v.time.width), Count: v.time.n,
		From: int64(from), To: int64(to),
		Proto: v.X.Protocol, BDP: int64(f.BDP()), Borders: borders(),
	}
	for h := range f.Hosts {
		s.Hosts = append(s.Hosts, f.HostName(topo.HostID(h)))
	}
	for i := range f.Ports {
		p := &f.Ports[i]
		known := v.X.QueueEvery > 0
		if f.Nodes[p.Node].Kind == topo.Host {
			known = v.X.GaugeEvery > 0 && !emu.KernelTCP(v.X)
		}
		s.Ports = append(s.Ports, StaticPort{p.Name, int(p.Node), int(p.Peer), p.Rate.Gigabits(), known})
	}
	return s
}

func (v *Variant) column(i, gauge int) Column {
	c := &v.cols[i]
	out := Column{
		At: i, Queue: slices.Clone(c.deepest), Goodput: make([]float64, len(v.hosts)), Load: make([]int, len(v.ports)),
	}
	for h, n := range c.received {
		out.Goodput[h] = math.Round(n*8/float64(v.time.width)*100) / 100
	}
	for p, n := range c.sent {
		rate := v.Fabric.Ports[p].Rate.Gigabits()
		out.Load[p] = int(math.Round(n * 8 / float64(v.time.width) / rate * 1000))
	}
	if gauge >= 0 && gauge < len(c.values) {
		_, scale := report.GaugeUnit(v.gauges[gauge])
		for _, x := range c.values[gauge] {
			out.Gauge = append(out.Gauge, shown(x/scale))
		}
	}
	return out
}

// shown is a gauge's value with the digits that matter, nil where there is none: JSON
// knows neither NaN nor infinities.
func shown(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	if a := math.Abs(x); a > 0 {
		digits := math.Pow(10, 3-math.Ceil(math.Log10(a)))
		if r := math.Round(x*digits) / digits; !math.IsNaN(r) && !math.IsInf(r, 0) {
			x = r
		}
	}
	return &x
}
