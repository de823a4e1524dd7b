package metric

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

var gaugeMean = Descriptor{
	Name:   "gauge_mean",
	Doc:    "Mean of a gauge's samples, over time and the hosts that have it; in the gauge's own unit.",
	Fields: []string{"gauge", "host", "hosts", "from", "to"},
	Needs:  []string{"gauge"},
	eval:   (*Metric).gaugeMean,
}

func (m *Metric) gaugeMean(v *results.Variant) (float64, error) {
	if v.Folded {
		return m.keptMean(v)
	}
	list, err := m.series(v)
	if err != nil {
		return 0, err
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	for _, s := range list {
		for _, p := range s.Between(from, to) {
			sum += p.Value
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("gauge %q has no samples from %v to %v: gauge_every is %v",
			m.Gauge, from, to, v.Experiment.GaugeEvery)
	}
	return sum / float64(n), nil
}

// keptMean is the mean of a gauge of a folded variant, which has the one over the window and
// all hosts.
func (m *Metric) keptMean(v *results.Variant) (float64, error) {
	kept := results.Summarize([]*results.Variant{v}).Variants[0].Gauges
	s, ok := kept[m.Gauge]
	switch {
	case !ok:
		return 0, missing("gauge", m.Gauge, slices.Sorted(maps.Keys(kept)))
	case !m.wholeWindow():
		return 0, notKept(v, "gauges of single hosts and times", "leave out host, hosts, from and to")
	}
	return s.Mean, nil
}

var gaugeSum = Descriptor{
	Name:    "gauge_sum",
	Doc:     "A statistic over time of the sum of a gauge over the hosts that have it; in the gauge's own unit.",
	Fields:  []string{"gauge", "host", "hosts", "from", "to"},
	Needs:   []string{"gauge"},
	Stats:   summaryStats,
	Default: "mean",
	eval:    (*Metric).gaugeSum,
}

func (m *Metric) gaugeSum(v *results.Variant) (float64, error) {
	if v.Folded {
		return 0, notKept(v, "samples of gauges", "ask for gauge_mean")
	}
	list, err := m.series(v)
	if err != nil {
		return 0, err
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	var values []float64
	for _, p := range sumSeries(list, from, to) {
		values = append(values, p.Value)
	}
	if len(values) == 0 {
		return 0, fmt.Errorf("gauge %q has no samples of all %d hosts from %v to %v: gauge_every is %v",
			m.Gauge, len(list), from, to, v.Experiment.GaugeEvery)
	}
	return m.pick(stats.New(values).Summary())
}

// series finds the series of m's gauge at m's hosts; with no hosts given, at
// all that have it.
func (m *Metric) series(v *results.Variant) ([]*results.Series, error) {
	hosts, err := m.hosts(v)
	if err != nil {
		return nil, err
	}
	var list []*results.Series
	for _, h := range hosts {
		s, ok := v.Gauge(h, m.Gauge)
		if ok {
			list = append(list, s)
		} else if m.Host != "" || len(m.Hosts) > 0 {
			return nil, fmt.Errorf("%s: %w", v.Fabric.HostName(h), missing("gauge", m.Gauge, gaugesOf(v, h)))
		}
	}
	if len(list) == 0 {
		return nil, missing("gauge", m.Gauge, v.GaugeNames())
	}
	return list, nil
}

func gaugesOf(v *results.Variant, h topo.HostID) (names []string) {
	for i := range v.Gauges {
		if v.Gauges[i].Host == h {
			names = append(names, v.Gauges[i].Gauge)
		}
	}
	return names
}

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
