package results

import (
	"sort"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Series is the samples of one gauge of one host over the run.
type Series struct {
	Host   topo.HostID
	Gauge  string
	Points []GaugePoint // in order of time
}

// A GaugePoint is one sample of a gauge, in the gauge's own unit.
type GaugePoint struct {
	At    units.Time
	Value float64
}

// Between returns the samples within [from, to).
func (s *Series) Between(from, to units.Time) []GaugePoint {
	i := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= from })
	j := sort.Search(len(s.Points), func(j int) bool { return s.Points[j].At >= to })
	return s.Points[i:max(i, j)]
}

// MovingAverage returns the series with each sample replaced by the mean of
// those within the span that ends at it, as the paper's outcast figure does.
func (s *Series) MovingAverage(span units.Time) []GaugePoint {
	out := make([]GaugePoint, 0, len(s.Points))
	sum, first := 0.0, 0
	for i, p := range s.Points {
		sum += p.Value
		for s.Points[first].At <= p.At-span && first < i {
			sum -= s.Points[first].Value
			first++
		}
		out = append(out, GaugePoint{p.At, sum / float64(i-first+1)})
	}
	return out
}

// at returns the value of a growing gauge at a time, interpolated between samples;
// ok is false if the samples do not reach that far.
func (s *Series) at(t units.Time) (v float64, ok bool) {
	i := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= t })
	if i == len(s.Points) {
		return 0, false
	}
	p := s.Points[i]
	if p.At == t {
		return p.Value, true
	}
	var before GaugePoint // nothing at the start of the run
	if i > 0 {
		before = s.Points[i-1]
	}
	share := float64(t-before.At) / float64(p.At-before.At)
	return before.Value + share*(p.Value-before.Value), true
}
