package scenarios

import (
	"slices"
	"strings"

	"sirdbed/capture/metric"
	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
)

// Asked returns the figures of a variant that bounds are about, or compare with, on an
// engine. Those that have no value, and those that wake-ups do nothing to, are left out.
func Asked(bounds []Bound, engine emu.EngineName, v *results.Variant) (list []verdict.Figure) {
	ask := func(m metric.Metric, variant, protocol string) {
		if variant != "" && variant != v.Name || protocol != "" && protocol != v.Protocol {
			return
		}
		f, ok := figure(m, v)
		if ok && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	for i := range bounds {
		b := &bounds[i]
		if len(b.Engines) > 0 && !slices.Contains(b.Engines, engine) {
			continue
		}
		ask(b.Metric, b.Variant, b.Protocol)
		for _, ref := range []*Reference{b.Minus, b.Over} {
			switch {
			case ref == nil:
			case ref.Variant == "" && ref.Protocol == "":
				ask(ref.against(b.Metric), b.Variant, b.Protocol)
			default:
				ask(ref.against(b.Metric), ref.Variant, ref.Protocol)
			}
		}
	}
	return list
}

// figure is a metric's value in what package verdict knows of it.
func figure(m metric.Metric, v *results.Variant) (verdict.Figure, bool) {
	value, err := m.Eval(v)
	if err != nil || m.Stat == "count" {
		return verdict.Figure{}, false
	}
	f := verdict.Figure{Name: m.Name, Value: value}
	for _, part := range []string{m.Stat, m.Stream, m.Group, m.Host, m.Port, m.Switch} {
		if part != "" {
			f.Name += " " + part
		}
	}
	switch {
	case m.Unit() == "Gbps":
		f.Of = verdict.Goodput
	case m.Unit() == "us":
		f.Of, f.Value = ofLatency(m), value*1e3
	case m.Unit() == "x":
		f.Of, f.Value = ofLatency(m), value*unloaded(m, v)
	case m.Unit() == "B" && strings.HasPrefix(m.Name, "queue"):
		f.Of = verdict.Depth
	default:
		return f, false
	}
	return f, true
}

// ofLatency is what a statistic of latency or slowdown measures.
func ofLatency(m metric.Metric) verdict.Quantity {
	switch m.Stat {
	case "p50", "mean", "min":
		return verdict.Median
	}
	return verdict.Tail
}

// unloaded is the mean unloaded latency, in ns, of the messages that a slowdown is of.
func unloaded(m metric.Metric, v *results.Variant) float64 {
	sum, n := 0.0, 0
	for i := range v.Messages {
		message := &v.Messages[i]
		if message.Class == results.Measured && ofStream(m, v, message) && ofGroup(m, v, message) {
			sum += float64(message.Fastest())
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func ofStream(m metric.Metric, v *results.Variant, message *results.Message) bool {
	return m.Stream == "" || v.StreamOf(message) == m.Stream
}

func ofGroup(m metric.Metric, v *results.Variant, message *results.Message) bool {
	return m.Group == "" || m.Group == results.AllSizes || m.Group == results.Group(message.Size, v.Borders)
}
