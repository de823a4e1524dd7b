// Package metric looks single figures of a run's results up by name, such as the
// p99 latency of a stream. Scenario files state bounds on them.
package metric

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo/units"
)

// A Metric names one figure of a variant's results, such as the p99 latency of
// a stream. Scenario files state bounds on metrics.
//
//	metric            value                                             fields
//	goodput_gbps      per host of the fabric; with host, of that one    host, hosts (sum), from, to
//	offered_gbps      what an unloaded fabric would deliver, per host   -
//	delivered_gbps    of a stream's whole messages                      stream
//	latency_us        of messages that completed                        stream, stat
//	slowdown          latency over unloaded latency                     stream, group, definition, stat
//	queue_bytes       what waited, sampled                              port, switch or host (downlink), stat
//	exact_queue_bytes the same, rebuilt from a capture (max, mean)      port or host (downlink), stat
//	gauge_mean        mean over time and hosts                          gauge, hosts, from, to
//	gauge_sum         a statistic over time of the sum over hosts       gauge, hosts, from, to, stat
//	share             of the payload received by hosts, by host         host, hosts, from, to
//	messages          count: stat is offered, measured, unfinished, failed, warmup or too_late    stream
//	counter           sum over hosts                                    counter, hosts
//	drops, marks, credit_drops   packets                                port; all ports otherwise
//	unstable          1 if unstable, else 0
type Metric struct {
	Name string `yaml:"metric" json:"metric" jsonschema:"enum=goodput_gbps,enum=offered_gbps,enum=delivered_gbps,enum=latency_us,enum=slowdown,enum=queue_bytes,enum=exact_queue_bytes,enum=gauge_mean,enum=gauge_sum,enum=share,enum=messages,enum=counter,enum=drops,enum=marks,enum=credit_drops,enum=unstable" jsonschema_description:"What is measured."`
	Stat string `yaml:"stat,omitempty" json:"stat,omitempty" jsonschema_description:"Which statistic: p50, p90, p99, p99.9, mean, max, min or count. Default: mean for gauges, p99 otherwise, max for queues."`

	Stream     string `yaml:"stream,omitempty" json:"stream,omitempty" jsonschema_description:"Stream by name; all streams but incast ones unless given."`
	Group      string `yaml:"group,omitempty" json:"group,omitempty" jsonschema:"enum=all,enum=A,enum=B,enum=C,enum=D" jsonschema_description:"Size group of a slowdown: A < 1460 <= B < 100,000 <= C < 800,000 <= D bytes; all unless given."`
	Definition string `yaml:"definition,omitempty" json:"definition,omitempty" jsonschema:"enum=paper,enum=exact" jsonschema_description:"Definition of slowdown: paper (payload and propagation, the default) or exact (headers and store-and-forward too)."`

	Host   string   `yaml:"host,omitempty" json:"host,omitempty" jsonschema_description:"Host by name. Of a queue: the leaf's port towards it."`
	Hosts  []string `yaml:"hosts,omitempty" json:"hosts,omitempty" jsonschema_description:"Hosts by name; all unless given."`
	Port   string   `yaml:"port,omitempty" json:"port,omitempty" jsonschema_description:"Port by name, such as leaf1>h1-2, or a class of ports: downlinks (leaf to host), core (leaf to spine and back), uplinks (hosts' own)."`
	Switch string   `yaml:"switch,omitempty" json:"switch,omitempty" jsonschema_description:"Switch by name, or leaf or spine for all of a kind; all switches unless given."`

	Gauge   string `yaml:"gauge,omitempty" json:"gauge,omitempty" jsonschema_description:"Gauge by name."`
	Counter string `yaml:"counter,omitempty" json:"counter,omitempty" jsonschema_description:"Counter by name."`

	From units.Time `yaml:"from,omitempty" json:"from,omitempty" jsonschema_description:"Begin of the span looked at, from the start of the run; the measured window's unless given."`
	To   units.Time `yaml:"to,omitempty" json:"to,omitempty" jsonschema_description:"End of the span looked at, from the start of the run; the measured window's unless given."`
}

// metrics are the functions behind the names.
var metrics = map[string]func(*Metric, *results.Variant) (float64, error){
	"goodput_gbps":      (*Metric).goodput,
	"offered_gbps":      (*Metric).offered,
	"delivered_gbps":    (*Metric).delivered,
	"latency_us":        (*Metric).latency,
	"slowdown":          (*Metric).slowdown,
	"queue_bytes":       (*Metric).queue,
	"exact_queue_bytes": (*Metric).exactQueue,
	"gauge_mean":        (*Metric).gaugeMean,
	"gauge_sum":         (*Metric).gaugeSum,
	"share":             (*Metric).share,
	"messages":          (*Metric).messages,
	"counter":           (*Metric).counter,
	"drops":             (*Metric).ports,
	"marks":             (*Metric).ports,
	"credit_drops":      (*Metric).ports,
	"unstable":          (*Metric).unstable,
}

// Names lists the names that a Metric may have.
func Names() []string { return slices.Sorted(maps.Keys(metrics)) }

// Eval looks the figure up. An error says what there is instead.
func (m Metric) Eval(v *results.Variant) (float64, error) {
	eval, ok := metrics[m.Name]
	if !ok {
		return 0, missing("metric", m.Name, Names())
	}
	value, err := eval(&m, v)
	if err != nil {
		return 0, fmt.Errorf("%s of variant %q: %w", m.Name, v.Name, err)
	}
	return value, nil
}

func missing(what, name string, have []string) error {
	if len(have) == 0 {
		return fmt.Errorf("no %s is called %q: there is none", what, name)
	}
	const most = 24
	more := ""
	if len(have) > most {
		have, more = have[:most], ", ..."
	}
	return fmt.Errorf("no %s is called %q: use one of %s%s", what, name, strings.Join(have, ", "), more)
}

func (m *Metric) goodput(v *results.Variant) (float64, error) {
	if m.From != 0 || m.To != 0 {
		return m.goodputWithin(v)
	}
	if m.Host == "" && len(m.Hosts) == 0 {
		return v.Goodput.Gbps, nil
	}
	hosts, err := m.hosts(v)
	sum := 0.0
	for _, h := range hosts {
		sum += results.Gbps(v.Received(h), v.To-v.From)
	}
	return sum, err
}

// goodputWithin is the goodput of a part of the run, by the hosts' gauges.
func (m *Metric) goodputWithin(v *results.Variant) (float64, error) {
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	hosts, err := m.hosts(v)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, h := range hosts {
		n, err := v.PayloadBetween(h, from, to)
		if err != nil {
			return 0, err
		}
		sum += results.Gbps(n, to-from)
	}
	if m.Host == "" && len(m.Hosts) == 0 {
		sum /= float64(len(hosts))
	}
	return sum, nil
}

func (m *Metric) stream(v *results.Variant) (*results.Stream, error) {
	if s, ok := v.Stream(m.Stream); ok {
		return s, nil
	}
	var have []string
	for _, s := range v.Latencies.Streams {
		have = append(have, s.Name)
	}
	return nil, missing("stream", m.Stream, have)
}

// offered is the payload that an unloaded fabric would have received in the
// window, per host of the fabric: a message counts in the window as far as it
// would be under way there, so that a large one near the end is not expected to
// arrive.
func (m *Metric) offered(v *results.Variant) (float64, error) {
	sum := 0.0
	for i := range v.Messages {
		m := &v.Messages[i]
		span := max(m.UnloadedPaper, 1)
		if within := min(m.Offered+span, v.To) - max(m.Offered, v.From); within > 0 {
			sum += float64(m.Size) * float64(within) / float64(span)
		}
	}
	return results.Gbps(sum, v.To-v.From) / float64(len(v.Fabric.Hosts)), nil
}

func (m *Metric) delivered(v *results.Variant) (float64, error) {
	if m.Stream != "" {
		s, err := m.stream(v)
		if err != nil {
			return 0, err
		}
		return s.DeliveredGbps, nil
	}
	sum := 0.0
	for _, s := range v.Latencies.Streams {
		sum += s.DeliveredGbps
	}
	return sum, nil
}

func (m *Metric) latency(v *results.Variant) (float64, error) {
	summary := v.Latencies.Latency
	if m.Stream != "" {
		s, err := m.stream(v)
		if err != nil {
			return 0, err
		}
		summary = s.LatencyNS
	}
	value, err := m.pick(summary, "p99")
	if m.Stat == "count" {
		return value, err
	}
	return value / float64(units.Microsecond), err
}

func (m *Metric) slowdown(v *results.Variant) (float64, error) {
	all := v.Latencies.Slowdown
	if m.Stream != "" {
		s, err := m.stream(v)
		if err != nil {
			return 0, err
		}
		all = s.Slowdown
	}
	definition, group := m.Definition, m.Group
	if definition == "" {
		definition = results.Paper
	}
	if group == "" {
		group = results.AllSizes
	}
	groups, ok := all[definition]
	if !ok {
		return 0, missing("definition of slowdown with messages", definition, slices.Sorted(maps.Keys(all)))
	}
	summary, ok := groups[group]
	if !ok {
		return 0, missing("size group with messages", group, slices.Sorted(maps.Keys(groups)))
	}
	return m.pick(summary, "p99")
}

// pick takes a statistic of a summary of messages.
func (m *Metric) pick(s stats.Summary, otherwise string) (float64, error) {
	stat := m.Stat
	if stat == "" {
		stat = otherwise
	}
	values := map[string]float64{
		"p50": s.P50, "p90": s.P90, "p99": s.P99, "p99.9": s.P999, "mean": s.Mean, "max": s.Max, "min": s.Min, "count": float64(s.Count),
	}
	value, ok := values[stat]
	if !ok {
		return 0, missing("statistic", stat, slices.Sorted(maps.Keys(values)))
	}
	if s.Count == 0 && stat != "count" {
		return 0, fmt.Errorf("no message of it completed in the window from %v", m.window())
	}
	return value, nil
}

func (m *Metric) window() string {
	if m.Stream != "" {
		return fmt.Sprintf("stream %q", m.Stream)
	}
	return "all streams"
}

func (m *Metric) messages(v *results.Variant) (float64, error) {
	list := v.Latencies.Streams
	if m.Stream != "" {
		s, err := m.stream(v)
		if err != nil {
			return 0, err
		}
		list = []results.Stream{*s}
	}
	sum := 0.0
	for _, s := range list {
		values := map[string]int{
			"offered": s.Offered, "measured": s.Measured, "unfinished": s.Unfinished, "failed": s.Failed, "warmup": s.Warmup, "too_late": s.TooLate,
		}
		n, ok := values[m.Stat]
		if !ok {
			return 0, missing("count of messages (stat)", m.Stat, slices.Sorted(maps.Keys(values)))
		}
		sum += float64(n)
	}
	return sum, nil
}

func (m *Metric) unstable(v *results.Variant) (float64, error) {
	if !v.Stability.Applies {
		return 0, fmt.Errorf("the rule applies to scenarios with a poisson stream only")
	}
	if v.Stability.Unstable {
		return 1, nil
	}
	return 0, nil
}
