package report

import (
	"math"
	"strings"
)

// An Order is a pair that the first result tells apart, and how another has it.
type Order struct {
	Result string `json:"result"` // the other
	Metric string `json:"metric"`
	At     string `json:"at,omitempty"` // of a grid: the place that both share
	// Higher and Lower are variants, or protocols, by the first result; Figures are the first
	// result's of both, then the other's.
	Higher  string     `json:"higher"`
	Lower   string     `json:"lower"`
	Figures [4]float64 `json:"figures"`
	Same    bool       `json:"same"` // the other has them in this order too
}

// Figures are apart if they differ by more than these shares of the smaller.
const (
	apart        = 0.10
	goodputApart = 0.05
)

// Apart reports whether two figures are far enough from each other for their order to count: by
// more than 10 % of the smaller, goodputs by 5 %.
func Apart(goodput bool, a, b float64) bool {
	share := apart
	if goodput {
		share = goodputApart
	}
	return max(a, b) > min(a, b)*(1+share)
}

// isGoodput reports whether a metric is a goodput, by its name or title.
func isGoodput(metric string) bool { return strings.Contains(strings.ToLower(metric), "goodput") }

// order finds the pairs that the first result tells apart.
func (c *Comparison) order() {
	groups := map[string][]*ComparisonRow{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.one == "" || r.Metric == "unstable" {
			continue
		}
		for _, other := range groups[r.group] {
			c.pair(other, r)
		}
		groups[r.group] = append(groups[r.group], r)
	}
}

// pair adds the order of two rows, by each result that has figures of both.
func (c *Comparison) pair(a, b *ComparisonRow) {
	x, y := a.Values[0], b.Values[0]
	if !x.counts() || !y.counts() || !Apart(isGoodput(a.Metric), *x.Value, *y.Value) ||
		math.Abs(*x.Value-*y.Value) < x.least {
		return
	}
	if *x.Value < *y.Value {
		a, b, x, y = b, a, y, x
	}
	_, at, _ := strings.Cut(a.group, "\x00")
	for i := 1; i < len(c.Results); i++ {
		if v, w := a.Values[i], b.Values[i]; v.counts() && w.counts() {
			c.Orders = append(c.Orders, Order{
				Result: c.Results[i], Metric: a.Metric, At: at, Higher: a.one, Lower: b.one,
				Figures: [4]float64{*x.Value, *y.Value, *v.Value, *w.Value}, Same: *v.Value > *w.Value,
			})
		}
	}
}

// counts reports whether the value is a figure of enough samples to be put in order.
func (v *Value) counts() bool { return v.Value != nil && !v.Few }

// inOrder counts the orders, and those that are the first result's.
func (c *Comparison) inOrder() (right, of int) {
	for _, o := range c.Orders {
		if o.Same {
			right++
		}
	}
	return right, len(c.Orders)
}

// orders has those that are not the first result's.
func (c *Comparison) orders() Table {
	t := Table{
		Title: "Orders that are not the first's", Left: 2,
		Header: []string{"metric", "result", "higher", "first", "here", "lower", "first", "here"},
		Note:   "Of pairs that are more than 10 % apart in the first, goodputs 5 %, queues a frame.",
	}
	for _, o := range c.Orders {
		if o.Same {
			continue
		}
		metric := o.Metric
		if o.At != "" {
			metric = o.At + ": " + metric
		}
		t.Rows = append(t.Rows, []string{
			metric, shortName(o.Result, c.Results), o.Higher, number(o.Figures[0]), number(o.Figures[2]),
			o.Lower, number(o.Figures[1]), number(o.Figures[3]),
		})
	}
	return t
}
