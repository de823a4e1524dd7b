package results

import (
	"math"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A gaugeFold sums gauges up over the window and over hosts, and for the course of the run.
type gaugeFold struct {
	from, to units.Time
	names    map[gaugeKey]hostGauge
	sums     map[string]*gaugeSum
	course   *course
}

// A hostGauge is where the samples of a host's gauge go.
type hostGauge struct {
	*gaugeSum
	parts *partMeans // nil: in no Course
}

type gaugeKey struct {
	host   topo.HostID
	number uint16
}

type gaugeSum struct {
	payload bool
	sum     float64
	max     float64
	count   int
	hosts   map[topo.HostID]bool
}

func newGaugeFold(x *emu.Experiment, c *course) *gaugeFold {
	g := &gaugeFold{names: map[gaugeKey]hostGauge{}, sums: map[string]*gaugeSum{}, course: c}
	g.from, g.to = x.Window()
	return g
}

func (g *gaugeFold) name(h topo.HostID, number uint16, name string) {
	s := g.sums[name]
	if s == nil {
		s = &gaugeSum{payload: name == PayloadGauge, hosts: map[topo.HostID]bool{}}
		g.sums[name] = s
	}
	s.hosts[h] = true
	g.names[gaugeKey{h, number}] = hostGauge{s, g.course.gauge(h, name)}
}

func (g *gaugeFold) isPayload(h topo.HostID, number uint16) bool {
	s, ok := g.names[gaugeKey{h, number}]
	return ok && s.payload
}

func (g *gaugeFold) take(h topo.HostID, r *record.Record) {
	s, ok := g.names[gaugeKey{h, r.Peer}]
	v := r.Float()
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if s.parts != nil {
		s.parts.add(r.At, v)
	}
	if r.At < g.from || r.At >= g.to {
		return
	}
	s.sum += v
	if s.count++; s.count == 1 || v > s.max {
		s.max = v
	}
}

func (g *gaugeFold) result() map[string]GaugeSummary {
	all := map[string]GaugeSummary{}
	for name, s := range g.sums {
		r := GaugeSummary{Max: s.max, Hosts: len(s.hosts)}
		if s.count > 0 {
			r.Mean = s.sum / float64(s.count)
		}
		all[name] = r
	}
	return all
}
