package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
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

	summaries []*results.Summary // by result
}

// A ComparisonRow is one figure of all results.
type ComparisonRow struct {
	Variant string  `json:"variant"`
	Metric  string  `json:"metric"`
	Values  []Value `json:"values"` // by result
}

// A Value is one result's figure. Text stands in for figures that are words.
type Value struct {
	Value    *float64 `json:"value"`              // null: the result has none
	Text     string   `json:"text,omitempty"`     // of a verdict
	Relative *float64 `json:"relative,omitempty"` // to the first result: 0.1 is 10 % more; nil: none that is finite
	Few      bool     `json:"few_samples,omitempty"`

	least float64 // differences of less are none, in the figure's unit
}

// leastDepth is by how much depths of queues differ at least, in KB, if they do: the smallest
// frame. A mean of less comes of a sample or two of thousands.
const leastDepth = float64(topo.MinWire) / 1000

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
			c.add(name, metric, figures)
		}
	}
	return c
}

func (c *Comparison) add(variant, metric string, figures []map[string]Value) {
	row := ComparisonRow{Variant: variant, Metric: metric}
	first := figures[0][metric].Value
	for i := range figures {
		v := figures[i][metric]
		if i > 0 && first != nil && v.Value != nil && *first != 0 {
			if relative := *v.Value / *first - 1; !math.IsInf(relative, 0) && !math.IsNaN(relative) {
				v.Relative = &relative
			}
		}
		row.Values = append(row.Values, v)
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
		put("queue "+statistic+", KB", Value{Value: &kb, least: leastDepth})
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

// Print writes the comparison, for a terminal.
func (c *Comparison) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, line := range c.Differences {
		p.line("%s", Printable(line))
	}
	for _, t := range c.tables() {
		p.table(t.printable())
	}
	return p.err
}

// tables are the comparison's, one for each variant.
func (c *Comparison) tables() (tables []Table) {
	for _, row := range c.Rows {
		if n := len(tables); n == 0 || tables[n-1].Title != row.Variant {
			t := Table{Title: row.Variant, Left: 1, Header: []string{"metric"}}
			for i, name := range c.Results {
				t.Header = append(t.Header, shortName(name, c.Results))
				if i > 0 {
					t.Header = append(t.Header, "diff")
				}
			}
			if c.Within != nil {
				t.Header = append(t.Header, "within "+percent(*c.Within))
			}
			tables = append(tables, t)
		}
		cells := []string{row.Metric}
		for i, v := range row.Values {
			cells = append(cells, v.text())
			if i > 0 {
				cells = append(cells, v.difference())
			}
		}
		if c.Within != nil {
			cells = append(cells, string(c.worst(row)))
		}
		t := &tables[len(tables)-1]
		t.Rows = append(t.Rows, cells)
	}
	if n := len(tables); n > 0 {
		tables[n-1].Note = "diff: to the first. " + fewNote
		if c.Within != nil {
			tables[n-1].Note += " These have no limit. missing: not on both sides."
		}
	}
	return tables
}

func (v *Value) text() string {
	switch {
	case v.Text != "":
		return v.Text
	case v.Value == nil:
		return "-"
	case v.Few:
		return number(*v.Value) + "*"
	}
	return number(*v.Value)
}

func (v *Value) difference() string {
	switch {
	case v.Relative == nil:
		return ""
	case *v.Relative > 9.995:
		return fmt.Sprintf("x%.0f", *v.Relative+1)
	}
	text := fmt.Sprintf("%+.1f %%", 100**v.Relative)
	if text == "-0.0 %" || text == "+0.0 %" {
		return "0.0 %"
	}
	return text
}

// shortName is the last part of a path, unless several results have the same.
func shortName(name string, names []string) string {
	base := filepath.Base(name)
	if base == results.SummaryFile {
		base = filepath.Base(filepath.Dir(name))
	}
	same := 0
	for _, other := range names {
		if filepath.Base(other) == filepath.Base(name) {
			same++
		}
	}
	if same > 1 && base == filepath.Base(name) {
		return name
	}
	return base
}
