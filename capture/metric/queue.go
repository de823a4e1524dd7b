package metric

import (
	"fmt"
	"maps"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo"
)

var queueBytes = Descriptor{
	Name: "queue_bytes",
	Doc: "Bytes that waited over the window, as sampled: of a switch, the sum over its ports, unless a port or a " +
		"host is given. For several, the largest, or the mean of the means.",
	Unit:    "B",
	Fields:  []string{"host", "port", "switch"},
	Either:  []string{"host", "port", "switch"},
	Stats:   []string{"max", "mean", "p99", "p99.9"},
	Default: "max",
	eval:    (*Metric).queue,
}

func (m *Metric) queue(v *results.Variant) (float64, error) {
	q := &v.Queue
	if q.Samples == 0 {
		if v.Folded && len(v.Stability.Reasons) > 0 && v.Experiment.QueueEvery > 0 {
			return 0, fmt.Errorf("no queue was sampled in the window: %s", v.Stability.Reasons[0])
		}
		return 0, fmt.Errorf("no queue was sampled in the window: queue_every is %v", v.Experiment.QueueEvery)
	}
	switch {
	case m.Host != "":
		h, err := hostOf(v, m.Host)
		if err != nil {
			return 0, err
		}
		return m.portQueue(v, v.Fabric.Downlink(h).Name)
	case m.Port != "":
		return m.overPorts(v, m.portQueue)
	case m.Switch != "":
		if s, ok := q.Switches[m.Switch]; ok {
			return m.pickQueue(s), nil
		}
		return m.overSwitches(v)
	}
	return m.pickQueue(results.QueueStats{Max: q.Max, Mean: q.Mean, P99: q.P99, P999: q.P999}), nil
}

// portQueue is the queue of a port.
func (m *Metric) portQueue(v *results.Variant, port string) (float64, error) {
	s, ok := v.Queue.Ports[port]
	if !ok {
		return 0, notKept(v, "queues of single ports", "ask for switches")
	}
	return m.pickQueue(s), nil
}

func (m *Metric) pickQueue(s results.QueueStats) float64 {
	switch m.Stat {
	case "mean":
		return s.Mean
	case "p99":
		return float64(s.P99)
	case "p99.9":
		return float64(s.P999)
	}
	return float64(s.Max)
}

// overSwitches combines all leaves or all spines.
func (m *Metric) overSwitches(v *results.Variant) (float64, error) {
	var values []float64
	for i := range v.Fabric.Nodes {
		n := &v.Fabric.Nodes[i]
		if n.Kind != topo.Host && n.Kind.String() == m.Switch {
			values = append(values, m.pickQueue(v.Queue.Switches[n.Name]))
		}
	}
	if len(values) == 0 {
		have := append([]string{"leaf", "spine"}, slices.Sorted(maps.Keys(v.Queue.Switches))...)
		return 0, missing("switch", m.Switch, have)
	}
	return m.combine(values), nil
}

// overPorts combines what get says of the ports that m names.
func (m *Metric) overPorts(
	v *results.Variant, get func(v *results.Variant, port string) (float64, error),
) (float64, error) {
	ports, err := m.ports(v)
	if err != nil {
		return 0, err
	}
	var values []float64
	for _, p := range ports {
		value, err := get(v, p.Name)
		if err != nil {
			return 0, err
		}
		values = append(values, value)
	}
	return m.combine(values), nil
}

// combine makes one figure of several queues': the mean of means, the largest of
// everything else.
func (m *Metric) combine(values []float64) float64 {
	d := stats.New(values)
	if m.Stat == "mean" {
		return d.Mean()
	}
	return d.Quantile(1)
}

var exactQueueBytes = Descriptor{
	Name: "exact_queue_bytes",
	Doc: "Bytes that waited at one port, packet by packet, over the measured window or the span given: rebuilt " +
		"from the capture of its switch.",
	Unit:    "B",
	Fields:  []string{"host", "port", "from", "to"},
	Needs:   []string{"host", "port"},
	Either:  []string{"host", "port"},
	Stats:   []string{"max", "mean"},
	Default: "max",
	eval:    (*Metric).exactQueue,
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
			if m.Stat == "mean" {
				return mean, nil
			}
			return float64(most.Bytes), nil
		}
	}
	return 0, missing("captured port", port, have)
}
