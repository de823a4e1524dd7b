package metric

import (
	"math"
	"sort"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// sumSeries adds several hosts' series of a gauge up, sample by sample. Hosts
// sample at the same nominal times, but in real time some are late, so a
// host's value holds until its next sample.
func sumSeries(list []*results.Series, from, to units.Time) []results.GaugePoint {
	type step struct {
		at    units.Time
		which int
		value float64
	}
	var steps []step
	now := make([]float64, len(list))
	for i, s := range list {
		now[i] = math.NaN()
		for _, p := range s.Between(from, to) {
			steps = append(steps, step{p.At, i, p.Value})
		}
	}
	sort.SliceStable(steps, func(i, j int) bool { return steps[i].at < steps[j].at })
	var out []results.GaugePoint
	known := 0
	for i, s := range steps {
		if math.IsNaN(now[s.which]) {
			known++
		}
		now[s.which] = s.value
		if known < len(list) || (i+1 < len(steps) && steps[i+1].at == s.at) {
			continue
		}
		sum := 0.0
		for _, v := range now {
			sum += v
		}
		out = append(out, results.GaugePoint{At: s.at, Value: sum})
	}
	return out
}
