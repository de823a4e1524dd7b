package report

import (
	"math"
	"slices"
)

// A GridFigure is a figure at one place of a grid: of a sweep, or of a reproduction of the
// paper's evaluation.
type GridFigure struct {
	Place  string // such as "load=0.5 sird"
	Metric string // with its unit
	// Group and One are the place in two parts: figures of one metric and group are
	// put in order, and One is whose this is. One is "" where there are no others.
	Group, One string
	Value      Value
}

// CompareGrids puts figures of grids side by side, by place and metric: a list for each
// result; names are what their columns are called.
func CompareGrids(names []string, lists [][]GridFigure) *Comparison {
	c := &Comparison{Results: names, Rows: []ComparisonRow{}}
	type place struct{ metric, at string }
	rows := map[place]*ComparisonRow{}
	var metrics []string
	var order []place
	for i, list := range lists {
		for _, f := range list {
			at := place{f.Metric, f.Place}
			r := rows[at]
			if r == nil {
				r = &ComparisonRow{Variant: f.Place, Metric: f.Metric, group: f.Metric + "\x00" + f.Group, one: f.One,
					Values: make([]Value, len(lists))}
				rows[at] = r
				order = append(order, at)
				if !slices.Contains(metrics, f.Metric) {
					metrics = append(metrics, f.Metric)
				}
			}
			r.Values[i] = f.Value
		}
	}
	for _, metric := range metrics {
		for _, at := range order {
			if at.metric == metric {
				c.add(*rows[at])
			}
		}
	}
	c.order()
	return c
}

// Common reports whether a figure of the first result is in each other one.
func (c *Comparison) Common() bool {
	there := func(v Value) bool { return v.Value != nil || v.Unstable }
	for i := range c.Results {
		if !slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool {
			return there(r.Values[0]) && there(r.Values[i])
		}) {
			return false
		}
	}
	return true
}

// MedianOf is the value of several seeds' figures, which it puts in order. least is what
// depths of queues differ by at least, if they do: 0 for other figures.
func MedianOf(seeds []float64, least float64) Value {
	slices.Sort(seeds)
	if len(seeds) == 0 {
		return Value{}
	}
	median := Median(seeds)
	v := Value{Value: &median, least: least}
	if len(seeds) > 1 {
		v.Seeds = seeds
	}
	return v
}

// Median is that of values in order, NaN if there are none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}
