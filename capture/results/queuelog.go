package results

import (
	"cmp"
	"slices"
	"sort"

	"sirdbed/capture/stats"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A QueueLog is the sampled queues of all ports. Reading all ports of a kernel takes
// a while. A tick is the time at which the reading began; in the log it follows the
// samples that were read.
type QueueLog struct {
	Ticks []units.Time    // when all ports were sampled, in order
	Ports [][]QueueSample // by PortID: the samples that differ from the one before

	swept []units.Time // by tick: when the reading ended
}

// A QueueSample says what waited at a port (scenarios/README, Queues).
type QueueSample struct {
	At      units.Time // when its reading began
	Until   units.Time // when its reading ended
	Bytes   int64
	Packets int64
	Tick    int // index of its tick; beyond the last if the log ends before it
}

// QueueStats says how deep a queue was over the measured window, in bytes. A
// sample holds until the next tick, so that uneven sampling does not distort the
// mean and the percentiles.
type QueueStats struct {
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p99_9"`
}

// A QueueSummary is the queues of one variant. A switch's queue is the sum over
// its ports (scenarios/README, Queues). Switches and Ports are by name; Ports has
// those of hosts too.
type QueueSummary struct {
	Max      int64                 `json:"max"`  // of any switch at any time
	Mean     float64               `json:"mean"` // over switches and time
	P99      int64                 `json:"p99"`  // over switches and time
	P999     int64                 `json:"p99_9"`
	MaxPort  int64                 `json:"max_port"` // of any switch port at any time
	Samples  int                   `json:"samples"`  // ticks in the window
	Switches map[string]QueueStats `json:"switches"`
	Ports    map[string]QueueStats `json:"ports"`
}

// A timeline is the ticks of a log within a span, each with the time for which it
// stands.
type timeline struct {
	base    int // index of the first in the log
	ticks   []units.Time
	through []float64 // time from the first tick to the end of each tick's span
}

func (q *QueueLog) timeline(from, to units.Time) timeline {
	i := sort.Search(len(q.Ticks), func(i int) bool { return q.Ticks[i] >= from })
	j := sort.Search(len(q.Ticks), func(j int) bool { return q.Ticks[j] >= to })
	t := timeline{base: i, ticks: q.Ticks[i:max(i, j)]}
	for k, tick := range t.ticks {
		next := to
		if k+1 < len(t.ticks) {
			next = t.ticks[k+1]
		} else if k > 0 {
			// After the log's end nothing is known.
			next = min(to, tick+(tick-t.ticks[k-1]))
		}
		sum := float64(next - tick)
		if k > 0 {
			sum += t.through[k-1]
		}
		t.through = append(t.through, sum)
	}
	return t
}

// span is the time for which ticks i to j-1 stand together.
func (t *timeline) span(i, j int) float64 {
	if j <= i {
		return 0
	}
	if i == 0 {
		return t.through[j-1]
	}
	return t.through[j-1] - t.through[i-1]
}

// depths returns the values of samples at the ticks, each weighted by how long it
// held.
func (t *timeline) depths(samples []QueueSample) *stats.Weighted {
	w := &stats.Weighted{}
	var value int64
	done := 0
	for _, s := range samples {
		i := max(0, min(s.Tick-t.base, len(t.ticks)))
		w.Add(float64(value), t.span(done, i))
		done, value = max(done, i), s.Bytes
		if i == len(t.ticks) {
			return w
		}
	}
	w.Add(float64(value), t.span(done, len(t.ticks)))
	return w
}

// SumOver returns the sum of several ports' queues, tick by tick.
func (q *QueueLog) SumOver(ports []topo.PortID) []QueueSample {
	var steps []QueueSample // differences
	for _, p := range ports {
		var last QueueSample
		for _, s := range q.Ports[p] {
			steps = append(steps, QueueSample{s.At, s.Until, s.Bytes - last.Bytes, s.Packets - last.Packets, s.Tick})
			last = s
		}
	}
	slices.SortStableFunc(steps, func(a, b QueueSample) int { return cmp.Compare(a.Tick, b.Tick) })
	var sum []QueueSample
	var now QueueSample
	for i, s := range steps {
		now.At, now.Tick = s.At, s.Tick
		now.Bytes += s.Bytes
		now.Packets += s.Packets
		if i+1 == len(steps) || steps[i+1].Tick != s.Tick {
			sum = append(sum, now)
		}
	}
	return sum
}

// Series returns the bytes of samples at every tick within [from, to).
func (q *QueueLog) Series(samples []QueueSample, from, to units.Time) ([]units.Time, []float64) {
	t := q.timeline(from, to)
	values := make([]float64, len(t.ticks))
	i := 0
	var now QueueSample
	for k := range t.ticks {
		for ; i < len(samples) && samples[i].Tick <= t.base+k; i++ {
			now = samples[i]
		}
		values[k] = float64(now.Bytes)
	}
	return t.ticks, values
}

func queueStats(w *stats.Weighted) QueueStats {
	return QueueStats{
		Max: int64(w.Max()), Mean: w.Mean(), P99: int64(w.Quantile(0.99)), P999: int64(w.Quantile(0.999)),
	}
}

// Result computes the queues' statistics over [from, to).
func (q *QueueLog) Result(f *topo.Fabric, from, to units.Time) QueueSummary {
	t := q.timeline(from, to)
	r := QueueSummary{Samples: len(t.ticks), Switches: map[string]QueueStats{}, Ports: map[string]QueueStats{}}
	if len(t.ticks) == 0 {
		return r
	}
	all := &stats.Weighted{}
	for i := range f.Ports {
		p := &f.Ports[i]
		s := queueStats(t.depths(q.Ports[i]))
		r.Ports[p.Name] = s
		if f.Nodes[p.Node].Kind != topo.Host {
			r.MaxPort = max(r.MaxPort, s.Max)
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind == topo.Host {
			continue
		}
		w := t.depths(q.SumOver(n.Ports))
		r.Switches[n.Name] = queueStats(w)
		all.Merge(w)
	}
	s := queueStats(all)
	r.Max, r.Mean, r.P99, r.P999 = s.Max, s.Mean, s.P99, s.P999
	return r
}
