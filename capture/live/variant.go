package live

import (
	"slices"
	"strings"

	"sirdbed/capture"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Variant is the picture of one variant's run so far: records are folded into it in any
// order of hosts, those of a host in order. It is for one goroutine.
type Variant struct {
	X      *emu.Experiment
	Fabric *topo.Fabric

	time   axis
	cols   []column
	rev    int            // grows with each look at the logs
	hosts  []hostPicture  // by HostID
	ports  []portPicture  // by PortID
	gauges []string       // names, in the order in which they came
	index  map[string]int // of gauges
	sent   []counterAt    // by PortID

	messages messages
	sampled  units.Time // the latest sample of the queues
}

// A column is what is known of one stretch of nominal time.
type column struct {
	rev      int         // of the latest change
	received []float64   // payload bytes by HostID
	sent     []float64   // wire bytes by PortID
	deepest  []int64     // bytes by PortID
	values   [][]float64 // the last one by gauge and HostID, nan where there is none
}

type hostPicture struct {
	gauges   []int // by number in its log: the index among all, or one of those below
	received counterAt
	last     units.Time // of its latest record
	ended    bool
}

// Numbers of gauges that are not shown as such.
const (
	payloadGauge = -1
	noGauge      = -2
)

type portPicture struct {
	level   int64 // bytes that wait
	at      units.Time
	deepest int64
}

// A counterAt is a growing count at a time.
type counterAt struct {
	at    units.Time
	value float64
}

// NewVariant returns the picture of a run that has not begun.
func NewVariant(x *emu.Experiment) (*Variant, error) {
	f, err := topo.New(x.Topology)
	if err != nil {
		return nil, err
	}
	v := &Variant{
		X: x, Fabric: f, time: newAxis(x), index: map[string]int{},
		hosts: make([]hostPicture, len(f.Hosts)), ports: make([]portPicture, len(f.Ports)),
		sent: make([]counterAt, len(f.Ports)),
	}
	v.cols = make([]column, v.time.n)
	v.messages = newMessages(x, f)
	return v, nil
}

// look begins a look at the logs: what changes from here on is newer than what the last
// Picture has.
func (v *Variant) look() { v.rev++ }

// at returns the column of a time, made if need be, nil beyond all.
func (v *Variant) at(t units.Time) *column {
	if t < 0 || v.time.of(t) >= len(v.cols) {
		return nil
	}
	return v.touch(v.time.of(t))
}

func (v *Variant) touch(i int) *column {
	c := &v.cols[i]
	c.rev = v.rev
	if c.received == nil {
		c.received, c.sent = make([]float64, len(v.hosts)), make([]float64, len(v.ports))
		c.deepest = make([]int64, len(v.ports))
	}
	return c
}

// plausible reports whether a record's time and number can be.
func plausible(r *record.Record) bool {
	const maxBytes = 1 << 40
	switch r.Kind {
	case record.Offered, record.Delivered, record.Acked, record.Failed, record.Queue:
		if r.N < 0 || r.N >= maxBytes {
			return false
		}
	case record.Sent:
		if r.N < 0 {
			return false
		}
	}
	return r.At > -capture.MaxTime && r.At < capture.MaxTime
}

// Host folds a record of a host's log.
func (v *Variant) Host(h topo.HostID, r record.Record) {
	if !plausible(&r) {
		return
	}
	host := &v.hosts[h]
	host.last = max(host.last, r.At)
	switch r.Kind {
	case record.GaugeName:
		v.name(host, int(r.Peer), r.Text)
	case record.Gauge:
		if int(r.Peer) < len(host.gauges) {
			v.gauge(h, host.gauges[r.Peer], r.At, r.Float())
		}
	case record.Sent:
		v.sentBy(&r)
	case record.Killed: // its next life numbers gauges anew, behind that of payload
		host.gauges = host.gauges[:min(1, len(host.gauges))]
	case record.End:
		host.ended = true
	case record.Offered, record.Delivered, record.Failed:
		if int(r.Peer) < len(v.hosts) {
			v.messages.take(h, &r)
		}
	}
}

// maxGauges is how many gauges are shown.
const maxGauges = 32

// name takes the name of a host's gauge. Those of a single peer are not shown.
func (v *Variant) name(host *hostPicture, number int, name string) {
	if number != len(host.gauges) {
		return // damaged: they are numbered as they come
	}
	i, known := v.index[name]
	switch {
	case name == results.PayloadGauge:
		i = payloadGauge
	case known:
	case strings.Contains(name, "/") || len(v.gauges) == maxGauges:
		i = noGauge
	default:
		i = len(v.gauges)
		v.gauges, v.index[name] = append(v.gauges, name), i
	}
	host.gauges = append(host.gauges, i)
}

func (v *Variant) gauge(h topo.HostID, i int, at units.Time, value float64) {
	switch {
	case i == payloadGauge:
		host := &v.hosts[h]
		v.spread(&host.received, at, value, func(c *column) *float64 { return &c.received[h] })
	case i >= 0:
		if c := v.at(at); c != nil {
			c.set(i, int(h), len(v.hosts), value)
		}
	}
}

// set sets a gauge's value at a host.
func (c *column) set(gauge, host, hosts int, value float64) {
	for len(c.values) <= gauge {
		c.values = append(c.values, slices.Repeat([]float64{nan}, hosts))
	}
	c.values[gauge][host] = value
}

// sentBy takes what a port has sent.
func (v *Variant) sentBy(r *record.Record) {
	if int(r.Peer) >= len(v.sent) {
		return
	}
	v.spread(&v.sent[r.Peer], r.At, float64(r.N), func(c *column) *float64 { return &c.sent[r.Peer] })
}

// spread adds what a count has grown by to the columns since it was last read.
func (v *Variant) spread(last *counterAt, at units.Time, value float64, of func(*column) *float64) {
	grown, span := value-last.value, at-last.at
	if grown > 0 && span > 0 {
		for i := v.time.of(last.at); i < len(v.cols) && v.time.begin(i) < at; i++ {
			share := min(at, v.time.begin(i+1)) - max(last.at, v.time.begin(i))
			*of(v.touch(i)) += grown * float64(share) / float64(span)
		}
	}
	if span >= 0 {
		*last = counterAt{at, value}
	}
}

// Queue folds a record of the log of queues.
func (v *Variant) Queue(r record.Record) {
	if !plausible(&r) {
		return
	}
	switch r.Kind {
	case record.Queue:
		if int(r.Peer) < len(v.ports) {
			v.ports[r.Peer].set(v, int(r.Peer), r.At, r.N)
		}
	case record.Tick:
		before := v.time.of(v.sampled)
		if v.sampled = max(v.sampled, r.At); v.time.of(v.sampled) == before && before > 0 {
			return
		}
		for i := range v.ports { // what waits on is in the next column too
			if p := &v.ports[i]; p.level > 0 {
				p.set(v, i, r.At, p.level)
			}
		}
	case record.Sent:
		v.sentBy(&r)
	}
}

// set sets what waits at port i, from a time on.
func (p *portPicture) set(v *Variant, i int, at units.Time, level int64) {
	for c := v.time.of(p.at) + 1; p.level > 0 && c <= min(v.time.of(at), len(v.cols)-1); c++ {
		col := v.touch(c)
		col.deepest[i] = max(col.deepest[i], p.level)
	}
	if c := v.at(at); c != nil {
		c.deepest[i] = max(c.deepest[i], level)
	}
	p.level, p.at, p.deepest = level, max(p.at, at), max(p.deepest, level)
}

// upTo is the time up to which the logs of all hosts have come, but for those that have
// long said nothing.
func (v *Variant) upTo() units.Time {
	latest := v.sampled
	for i := range v.hosts {
		latest = max(latest, v.hosts[i].last)
	}
	least := latest
	for i := range v.hosts {
		if h := &v.hosts[i]; !h.ended && h.last > latest-lagging*v.time.width {
			least = min(least, h.last)
		}
	}
	return least
}

// lagging is how many columns a host may be behind before it is not waited for.
const lagging = 20

// complete is how many columns hold all that they will.
func (v *Variant) complete() int { return min(len(v.cols), v.time.of(v.upTo())) }
