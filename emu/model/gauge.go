package model

import "sirdbed/topo/units"

// A gauge follows a quantity exactly: its maximum and its mean over time.
type gauge struct {
	value, max int64
	since      int64 // ps of the last change
	begin      int64
	area       float64 // value x ps
}

func (g *gauge) set(value, now int64) {
	g.area += float64(float64(g.value) * float64(now-g.since)) // no fused multiply-add: the same on all machines
	g.value, g.since = value, now
	g.max = max(g.max, value)
}

// reset begins anew with the present value.
func (g *gauge) reset(now int64) { *g = gauge{value: g.value, max: g.value, since: now, begin: now} }

func (g *gauge) read(now int64) QueueStats {
	q := QueueStats{Bytes: units.Bytes(g.value), Max: units.Bytes(g.max)}
	if now > g.begin {
		q.Mean = (g.area + float64(float64(g.value)*float64(now-g.since))) / float64(now-g.begin)
	}
	return q
}
