package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo"
)

// A Comparison is results side by side: each figure of the first, and the
// others' with their relative difference to it.
type Comparison struct {
	Results []string        `json:"results"`
	Rows    []ComparisonRow `json:"rows"`
	// In what the results differ beside their figures: faults, what --set changed.
	Differences []string `json:"differences,omitempty"`
	Within      *float64 `json:"within,omitempty"` // how far figures may differ: 0.1 is 10 %; nil: as they like
	Orders      []Order  `json:"orders,omitempty"` // pairs that the first result tells apart

	summaries []*results.Summary // by result; nil: they are grids
}

// A ComparisonRow is one figure of all results.
type ComparisonRow struct {
	Variant string  `json:"variant"`
	Metric  string  `json:"metric"`
	Values  []Value `json:"values"` // by result

	group, one string // what is compared with what: see Figure
}

// A Value is one result's figure. Text stands in for figures that are words.
type Value struct {
	Value    *float64 `json:"value"`              // null: the result has none
	Text     string   `json:"text,omitempty"`     // of a verdict
	Less     *float64 `json:"less,omitempty"`     // the first result's subtracted; nil: one of the two is missing
	Relative *float64 `json:"relative,omitempty"` // to the first result: 0.1 is 10 % more; nil: none that is finite
	Few      bool     `json:"few_samples,omitempty"`
	// Seeds are the figures of several seeds, of which Value is the median, in order.
	Seeds []float64 `json:"seeds,omitempty"`
	// Unstable says that there is no figure since the load was not carried.
	Unstable bool `json:"unstable,omitempty"`

	least float64 // differences of less are none, in the figure's unit
}

// LeastDepth is by how much depths of queues differ at least, in KB, if they do: the smallest
// frame. A mean of less comes of a sample or two of thousands.
const LeastDepth = float64(topo.MinWire) / 1000

// Common returns an error if a result has no variant in common with the first, so
// that there is nothing to compare. A single variant compares with any other.
func Common(names []string, list []*results.Summary) error {
	variants := func(s *results.Summary) (names []string) {
		for _, v := range s.Variants {
			names = append(names, v.Variant)
		}
		return names
	}
	if matchedAsTheyAre(list) {
		return nil
	}
	first := variants(list[0])
	for i, s := range list[1:] {
		others := variants(s)
		if !slices.ContainsFunc(others, func(name string) bool { return slices.Contains(first, name) }) {
			return fmt.Errorf("no variant is in both results: %s has %s, %s has %s", Printable(names[0]),
				Printable(strings.Join(first, ", ")), Printable(names[i+1]), Printable(strings.Join(others, ", ")))
		}
	}
	return nil
}

// matchedAsTheyAre reports whether every result has just one variant, which are
// then compared whatever their names.
func matchedAsTheyAre(list []*results.Summary) bool {
	return !slices.ContainsFunc(list, func(s *results.Summary) bool { return len(s.Variants) != 1 })
}

// Compare puts results side by side; names are what their columns are called.
// Variants are matched by name, or when every result has just one, as they are.
func Compare(names []string, list []*results.Summary) *Comparison {
	c := &Comparison{
		Results: names, Rows: []ComparisonRow{}, Differences: differences(names, list), summaries: list,
	}
	single := matchedAsTheyAre(list)
	var variants []string
	for _, s := range list {
		for _, v := range s.Variants {
			if !slices.Contains(variants, v.Variant) && !(single && len(variants) == 1) {
				variants = append(variants, v.Variant)
			}
		}
	}
	for _, name := range variants {
		figures := make([]map[string]Value, len(list))
		var order []string
		for i, s := range list {
			figures[i] = map[string]Value{}
			for j := range s.Variants {
				if v := &s.Variants[j]; v.Variant == name || single {
					eachFigure(v, func(metric string, value Value) {
						figures[i][metric] = value
						if !slices.Contains(order, metric) {
							order = append(order, metric)
						}
					})
				}
			}
		}
		for _, metric := range order {
			row := ComparisonRow{Variant: name, Metric: metric, group: metric, one: name}
			for i := range figures {
				row.Values = append(row.Values, figures[i][metric])
			}
			c.add(row)
		}
	}
	c.order()
	return c
}

// add adds a row, and how its figures differ from the first.
func (c *Comparison) add(row ComparisonRow) {
	first := row.Values[0].Value
	for i := range row.Values {
		v := &row.Values[i]
		if i == 0 || first == nil || v.Value == nil {
			continue
		}
		if less := *v.Value - *first; finite(less) {
			v.Less = &less
		}
		if relative := *v.Value / *first - 1; *first != 0 && finite(relative) {
			v.Relative = &relative
		}
	}
	c.Rows = append(c.Rows, row)
}

// eachFigure hands over the figures of a variant that are worth a comparison.
func eachFigure(v *results.VariantSummary, add func(string, Value)) {
	put := func(metric string, v Value) {
		if v.Value != nil && (math.IsInf(*v.Value, 0) || math.IsNaN(*v.Value)) {
			v.Value = nil // which JSON does not have either
		}
		add(metric, v)
	}
	plain := func(metric string, x float64) { put(metric, Value{Value: &x}) }
	put("engine", Value{Text: v.Engine})
	put("verdict", Value{Text: string(v.Verdict)})
	plain("goodput, Gbps per host", v.GoodputGbps)
	for _, s := range v.Streams {
		if s.LatencyNS.Count == 0 {
			continue
		}
		for _, q := range []struct {
			name string
			ns   float64
		}{{"p50", s.LatencyNS.P50}, {"p99", s.LatencyNS.P99}} {
			us := q.ns / 1000
			put(fmt.Sprintf("latency of %s %s, us", s.Name, q.name), Value{Value: &us, Few: s.LatencyNS.Few})
		}
	}
	groups := v.Slowdown[results.Paper]
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		s := groups[g]
		put("slowdown "+g+" p50", Value{Value: &s.P50, Few: s.Few})
		put("slowdown "+g+" p99", Value{Value: &s.P99, Few: s.Few})
	}
	depth := func(statistic string, bytes float64) {
		kb := bytes / 1000
		put("queue "+statistic+", KB", Value{Value: &kb, least: LeastDepth})
	}
	depth("max", float64(v.QueueBytes.Max))
	depth("mean", v.QueueBytes.Mean)
	depth("p99.9", float64(v.QueueBytes.P999))
	unstable := 0.0
	if v.Unstable {
		unstable = 1
	}
	if v.Stability != nil && v.Stability.Known {
		plain("unstable", unstable)
	}
}
