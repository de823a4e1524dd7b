package metric

import (
	"fmt"
	"maps"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo/units"
)

// summaryStats are the statistics of a set of samples.
var summaryStats = []string{"p50", "p90", "p99", "p99.9", "mean", "max", "min", "count"}

// pick takes a statistic of samples: of messages that completed, or of a gauge.
func (m *Metric) pick(s stats.Summary) (float64, error) {
	if s.Count == 0 && m.Stat != "count" {
		of := "any stream"
		if m.Stream != "" {
			of = fmt.Sprintf("stream %q", m.Stream)
		}
		return 0, fmt.Errorf("no message of %s completed in the window", of)
	}
	switch m.Stat {
	case "p50":
		return s.P50, nil
	case "p90":
		return s.P90, nil
	case "p99":
		return s.P99, nil
	case "p99.9":
		return s.P999, nil
	case "mean":
		return s.Mean, nil
	case "max":
		return s.Max, nil
	case "min":
		return s.Min, nil
	}
	return float64(s.Count), nil
}

// stream finds the results of m's stream.
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

// streams are the results of m's stream, or of all unless it is given.
func (m *Metric) streams(v *results.Variant) ([]results.Stream, error) {
	if m.Stream == "" {
		return v.Latencies.Streams, nil
	}
	s, err := m.stream(v)
	if err != nil {
		return nil, err
	}
	return []results.Stream{*s}, nil
}

var latency = Descriptor{
	Name: "latency_us",
	Doc: "Latency of the messages that arrived in the window and completed, from nominal arrival at the sender's " +
		"application to completion: of the message, or of the reply to it if it has one. Without a stream, those " +
		"of incast streams are left out.",
	Unit:    "us",
	Fields:  []string{"stream"},
	Stats:   summaryStats,
	Default: "p99",
	eval:    (*Metric).latency,
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
	value, err := m.pick(summary)
	if m.Stat == "count" {
		return value, err
	}
	return value / float64(units.Microsecond), err
}

var slowdown = Descriptor{
	Name: "slowdown",
	Doc: "Latency over the latency on an idle fabric, of the messages that arrived in the window and completed. " +
		"Without a stream, those of incast streams are left out.",
	Unit:    "x",
	Fields:  []string{"stream", "group", "definition"},
	Stats:   summaryStats,
	Default: "p99",
	eval:    (*Metric).slowdown,
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
	return m.pick(summary)
}

var messages = Descriptor{
	Name: "messages",
	Doc: "Number of messages: offered over the whole run; measured, unfinished and failed in the window; left out of " +
		"it for the warm-up, or because they arrived too late to finish even unloaded.",
	Fields: []string{"stream"},
	Stats:  []string{"offered", "measured", "unfinished", "failed", "warmup", "too_late"},
	eval:   (*Metric).messages,
}

func (m *Metric) messages(v *results.Variant) (float64, error) {
	list, err := m.streams(v)
	sum := 0
	for _, s := range list {
		switch m.Stat {
		case "offered":
			sum += s.Offered
		case "measured":
			sum += s.Measured
		case "unfinished":
			sum += s.Unfinished
		case "failed":
			sum += s.Failed
		case "warmup":
			sum += s.Warmup
		case "too_late":
			sum += s.TooLate
		}
	}
	return float64(sum), err
}
