package metric

import (
	"fmt"
	"maps"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo"
)

func (m *Metric) queue(v *results.Variant) (float64, error) {
	if v.Queue.Samples == 0 {
		return 0, fmt.Errorf("no queue was sampled in the window: queue_every is %v", v.Experiment.QueueEvery)
	}
	switch {
	case m.Host != "":
		h, err := hostOf(v, m.Host)
		if err != nil {
			return 0, err
		}
		return m.pickQueue(v.Queue.Ports[v.Fabric.Downlink(h).Name])
	case m.Port != "":
		return m.overPorts(v, func(p *topo.Port) (float64, error) { return m.pickQueue(v.Queue.Ports[p.Name]) })
	case m.Switch != "":
		if s, ok := v.Queue.Switches[m.Switch]; ok {
			return m.pickQueue(s)
		}
		return m.overSwitches(v)
	}
	return m.pickQueue(results.QueueStats{Max: v.Queue.Max, Mean: v.Queue.Mean, P99: v.Queue.P99, P999: v.Queue.P999})
}

func (m *Metric) pickQueue(s results.QueueStats) (float64, error) {
	values := map[string]float64{"": float64(s.Max), "max": float64(s.Max), "mean": s.Mean, "p99": float64(s.P99), "p99.9": float64(s.P999)}
	value, ok := values[m.Stat]
	if !ok {
		return 0, missing("statistic of a queue", m.Stat, []string{"max", "mean", "p99", "p99.9"})
	}
	return value, nil
}

// overSwitches combines all leaves or all spines: the mean of means, the
// largest of everything else.
func (m *Metric) overSwitches(v *results.Variant) (float64, error) {
	var values []float64
	for i := range v.Fabric.Nodes {
		n := &v.Fabric.Nodes[i]
		if n.Kind == topo.Host || n.Kind.String() != m.Switch {
			continue
		}
		x, err := m.pickQueue(v.Queue.Switches[n.Name])
		if err != nil {
			return 0, err
		}
		values = append(values, x)
	}
	if len(values) == 0 {
		return 0, missing("switch", m.Switch, append([]string{"leaf", "spine"}, slices.Sorted(maps.Keys(v.Queue.Switches))...))
	}
	return m.combine(values), nil
}

func (m *Metric) combine(values []float64) float64 {
	d := stats.New(values)
	if m.Stat == "mean" {
		return d.Mean()
	}
	return d.Quantile(1)
}

// Classes of ports that Port may name.
var portClasses = map[string]func(f *topo.Fabric, p *topo.Port) bool{
	"downlinks": func(f *topo.Fabric, p *topo.Port) bool { return f.Nodes[p.Peer].Kind == topo.Host },
	"uplinks":   func(f *topo.Fabric, p *topo.Port) bool { return f.Nodes[p.Node].Kind == topo.Host },
	"core":      func(_ *topo.Fabric, p *topo.Port) bool { return p.Core },
}

// inClass reports whether a port is of a class.
func inClass(v *results.Variant, class, port string) bool {
	is, ok := portClasses[class]
	return ok && slices.ContainsFunc(v.Fabric.Ports, func(p topo.Port) bool { return p.Name == port && is(v.Fabric, &p) })
}

// overPorts combines what get says of the ports that m names.
func (m *Metric) overPorts(v *results.Variant, get func(*topo.Port) (float64, error)) (float64, error) {
	class := portClasses[m.Port]
	var values []float64
	var have []string
	for i := range v.Fabric.Ports {
		p := &v.Fabric.Ports[i]
		have = append(have, p.Name)
		if p.Name != m.Port && (class == nil || !class(v.Fabric, p)) {
			continue
		}
		x, err := get(p)
		if err != nil {
			return 0, err
		}
		values = append(values, x)
	}
	if len(values) == 0 {
		return 0, missing("port", m.Port, append(slices.Sorted(maps.Keys(portClasses)), have...))
	}
	return m.combine(values), nil
}

func (m *Metric) exactQueue(v *results.Variant) (float64, error) {
	port := m.Port
	if m.Host != "" {
		h, err := hostOf(v, m.Host)
		if err != nil {
			return 0, err
		}
		port = v.Fabric.Downlink(h).Name
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	var have []string
	for _, r := range v.Captures {
		for _, q := range r.Ports {
			have = append(have, q.Port.Name)
			if q.Port.Name != port {
				continue
			}
			most, mean := q.Between(from, to)
			switch m.Stat {
			case "", "max":
				return float64(most.Bytes), nil
			case "mean":
				return mean, nil
			}
			return 0, missing("statistic of an exact queue", m.Stat, []string{"max", "mean"})
		}
	}
	return 0, missing("captured port", port, have)
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

func (m *Metric) gaugeMean(v *results.Variant) (float64, error) {
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
		return 0, fmt.Errorf("gauge %q has no samples from %v to %v: gauge_every is %v", m.Gauge, from, to, v.Experiment.GaugeEvery)
	}
	return sum / float64(n), nil
}

func (m *Metric) gaugeSum(v *results.Variant) (float64, error) {
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
		return 0, fmt.Errorf("gauge %q has no samples of all %d hosts from %v to %v: gauge_every is %v", m.Gauge, len(list), from, to, v.Experiment.GaugeEvery)
	}
	return m.pick(stats.New(values).Summary(), "mean")
}

func (m *Metric) share(v *results.Variant) (float64, error) {
	if m.Host == "" {
		return 0, fmt.Errorf("host is missing: whose share?")
	}
	h, err := hostOf(v, m.Host)
	if err != nil {
		return 0, err
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	among, err := (&Metric{Hosts: m.Hosts}).hosts(v)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(among, h) {
		among = append(slices.Clone(among), h)
	}
	return shareOf(v, h, among, from, to)
}

func (m *Metric) counter(v *results.Variant) (float64, error) {
	if _, ok := v.Counters[m.Counter]; !ok {
		return 0, missing("counter", m.Counter, slices.Sorted(maps.Keys(v.Counters)))
	}
	hosts, err := m.hosts(v)
	sum := 0.0
	for _, h := range hosts {
		sum += float64(v.Counter(h, m.Counter))
	}
	return sum, err
}

// ports sums a count of ports up.
func (m *Metric) ports(v *results.Variant) (float64, error) {
	if v.Facts == nil {
		return 0, fmt.Errorf("facts.json is missing, which counts them")
	}
	sum, found := 0.0, false
	var have []string
	for _, p := range v.Facts.Ports {
		have = append(have, p.Name)
		if m.Port != "" && p.Name != m.Port && !inClass(v, m.Port, p.Name) {
			continue
		}
		found = true
		sum += float64(map[string]int64{"drops": p.Drops, "marks": p.Marks, "credit_drops": p.CreditDrops}[m.Name])
	}
	if !found && m.Port != "" {
		return 0, missing("port", m.Port, have)
	}
	return sum, nil
}
