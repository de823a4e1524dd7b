package points

import (
	"cmp"
	"fmt"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/emu"
)

// Variant returns a point's results as those of a variant, for metrics: without messages,
// series, and queues of single ports, of which it has the sums of what was dropped and marked.
// name is what it is called.
func (p *Point) Variant(name string) (*results.Variant, error) {
	v, err := results.Kept(&p.Result, p.Experiment, p.Course, p.Curves)
	if err != nil {
		return nil, err
	}
	v.Name, v.Goodput.Gbps = name, p.Goodput()
	if why := p.NotCarried(); why != "" {
		v.Stability.Known, v.Stability.Unstable, v.Stability.Reasons = true, true, []string{why}
	} else {
		v.Stability.Unstable, v.Stability.Reasons = false, nil
	}
	v.Facts = &emu.Facts{Ports: []emu.PortFacts{{
		Name: "all", Drops: p.Drops.Drops, CreditDrops: p.Drops.Credits, Marks: p.Drops.Marks,
	}}}
	return v, nil
}

// Leaves returns the queues of all leaves together: the deepest, and the mean of means.
// Percentiles are the highest of a leaf's. Of a point that was ended before its window began
// there are the deepest of its course, and the mean of the last whole parts of that.
func (p *Point) Leaves() (q results.QueueStats) {
	n := 0
	for i := 1; ; i++ {
		s, ok := p.Result.QueueBytes.Switches[fmt.Sprintf("leaf%d", i)]
		if !ok {
			break
		}
		n++
		q.Max, q.P99, q.P999 = max(q.Max, s.Max), max(q.P99, s.P99), max(q.P999, s.P999)
		q.Mean += s.Mean
	}
	if c := p.Course; n == 0 && p.Unbounded != "" && c != nil && len(c.QueueMax) > 0 &&
		len(c.QueueMean) == len(c.Received) {
		begin, end := p.lastParts()
		q.Max, q.Mean = int64(slices.Max(c.QueueMax)), stats.Mean(c.QueueMean[begin:end])
		return q
	}
	q.Mean /= float64(max(n, 1))
	return q
}

// QueueGrows says how a leaf's queue grew without bound, "" if none did: the run was ended
// for it, or its course shows it.
func (p *Point) QueueGrows() string {
	if p.Unbounded != "" || p.Course == nil {
		return cmp.Or(p.Unbounded, p.Grows)
	}
	return p.Course.QueuesGrow()
}

// IsInvalid reports whether the verdict on a point is that its figures are wrong. On one that was
// ended since a queue grew it is not: that it came to no end is what was found.
func (p *Point) IsInvalid() bool { return p.Result.Verdict == results.Invalid && p.Unbounded == "" }

// Protocol is the name of the protocol that the point is of.
func (p *Point) Protocol() string { return p.Experiment.Protocol }
