package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A meansCheck compares the mean of a protocol over a table with that of another.
type meansCheck struct {
	Table  string `yaml:"table"`
	Of     string `yaml:"of"`
	Over   string `yaml:"over"`
	Kind   string `yaml:"kind"` // both, which is meant without one, normalized, raw or common: as in Ratios
	Bounds `yaml:",inline"`
}

func (c *meansCheck) prepare() ([]string, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "both", "normalized", "raw", "common"}, c.Kind) {
		return nil, fmt.Errorf("no kind of means is called %q", c.Kind)
	}
	if err := paperProtocols(c.Of, c.Over); err != nil {
		return nil, err
	}
	return cellsOf(c.Table) // the best of each column needs all
}

func (c *meansCheck) evaluate(f figures) outcome {
	here, bounds, scaled := f.m, c.Bounds, ""
	if c.About != nil { // what is unstable here or in print would be left out of one side alone
		var print *Measured
		here, print = inBoth(f.m)
		if share := c.ofAll(print); share != 1 {
			bounds.About = &number{measure: c.About.measure * share}
			scaled = fmt.Sprintf(" (%s in print, scaled to the cells with a number here)", digits(c.About.measure))
		}
	}
	ratios, known := figures{here}.normalized(c.Table).RatiosOf(c.Of, c.Over)
	if !known {
		return outcome{text: fmt.Sprintf("%s and %s have no number in common", c.Of, c.Over)}
	}
	x, wanted := ratios.of(c.Kind), bounds.String()+scaled
	text := fmt.Sprintf("%s over %s, %s: %s, wanted %s (%s)", c.Of, c.Over, c.Table, digits(x), wanted, ratios)
	return outcome{bounds.met(x), text}
}

// ofAll is the ratio of some of the printed cells, over that of all; 0 if these have none.
func (c *meansCheck) ofAll(some *Measured) float64 {
	part, _ := Normalize(some, c.Table).RatiosOf(c.Of, c.Over)
	all, _ := Normalize(Printed(), c.Table).RatiosOf(c.Of, c.Over)
	return part.of(c.Kind) / all.of(c.Kind)
}

// of returns the ratio of a kind.
func (r Ratios) of(kind string) float64 {
	switch kind {
	case "normalized":
		return r.Normalized
	case "raw":
		return r.Raw
	case "common":
		return r.Common
	}
	return r.Both
}

// String says which is which.
func (r Ratios) String() string {
	return fmt.Sprintf("means normalized %s, raw %s; of common cells %s and %s",
		digits(r.Normalized), digits(r.Raw), digits(r.Both), digits(r.Common))
}

// A nearIdealCheck asks whether one protocol alone is near the best in all three
// tables and all columns.
type nearIdealCheck struct {
	Protocol       string  `yaml:"protocol"`
	SlowdownAtMost float64 `yaml:"slowdown_at_most"`
	GoodputAtLeast float64 `yaml:"goodput_at_least"`
	QueueAtMost    float64 `yaml:"queue_at_most"`
}

func (c *nearIdealCheck) prepare() ([]string, error) {
	if c.SlowdownAtMost < 1 || c.GoodputAtLeast <= 0 || c.GoodputAtLeast > 1 || c.QueueAtMost < 1 {
		return nil, errors.New("slowdown_at_most and queue_at_most are 1 or more, goodput_at_least is from 0 to 1")
	}
	if err := paperProtocols(c.Protocol); err != nil {
		return nil, err
	}
	return cellsOf(PrintedTables...)
}

func (c *nearIdealCheck) evaluate(f figures) outcome {
	slowdown, goodput, queue := f.normalized(P99Slowdown), f.normalized(MaxGoodput), f.normalized(MaxTorQueue)
	var near, all []string
	for _, p := range Protocols {
		s, g, q := slowdown.worst(p), goodput.worst(p), queue.worst(p)
		if s <= c.SlowdownAtMost && g >= c.GoodputAtLeast && q <= c.QueueAtMost {
			near = append(near, p)
		}
		all = append(all, fmt.Sprintf("%s %s, %s, %s", p, digits(s), digits(g), digits(q)))
	}
	text := fmt.Sprintf("worst slowdown, goodput and queue: %s; near the best: %s",
		strings.Join(all, "; "), strings.Join(near, ", "))
	return outcome{slices.Equal(near, []string{c.Protocol}), text}
}

// worst is the worst of a protocol's numbers; infinite if one is unstable.
func (n *Normalized) worst(protocol string) float64 {
	r := n.row(protocol)
	w := r.Cells[0].Number
	for _, c := range r.Cells {
		switch {
		case c.Unstable:
			return math.Inf(1)
		case higherIsBetter(n.Table):
			w = min(w, c.Number)
		default:
			w = max(w, c.Number)
		}
	}
	return w
}

// A bestCheck asks in how many columns a protocol is the best.
type bestCheck struct {
	Table     string `yaml:"table"`
	Protocol  string `yaml:"protocol"`
	InAtLeast int    `yaml:"in_at_least"`
}

func (c *bestCheck) prepare() ([]string, error) {
	if c.InAtLeast < 1 || c.InAtLeast > columns {
		return nil, fmt.Errorf("in_at_least is from 1 to %d", columns)
	}
	if err := paperProtocols(c.Protocol); err != nil {
		return nil, err
	}
	return cellsOf(c.Table)
}

func (c *bestCheck) evaluate(f figures) outcome {
	n := 0
	for _, cell := range f.normalized(c.Table).row(c.Protocol).Cells {
		if cell.hasNumber() && cell.Number == 1 {
			n++
		}
	}
	text := fmt.Sprintf("%s is the best in %d of %d, wanted %d", c.Protocol, n, columns, c.InAtLeast)
	return outcome{n >= c.InAtLeast, text}
}

// A rangeCheck asks whether the numbers of a protocol are nearer to each other,
// normalized, than those of others.
type rangeCheck struct {
	Table    string   `yaml:"table"`
	Protocol string   `yaml:"protocol"`
	Below    []string `yaml:"below"`
}

func (c *rangeCheck) prepare() ([]string, error) {
	if len(c.Below) == 0 {
		return nil, errors.New("it needs below")
	}
	if err := paperProtocols(append([]string{c.Protocol}, c.Below...)...); err != nil {
		return nil, err
	}
	return cellsOf(c.Table)
}

func (c *rangeCheck) evaluate(f figures) outcome {
	n := f.normalized(c.Table)
	mine := n.row(c.Protocol).Mean.Range
	o := outcome{holds: true, text: fmt.Sprintf("range of %s %s", c.Protocol, digits(mine))}
	for _, p := range c.Below {
		its := n.row(p).Mean.Range
		o.holds = o.holds && mine < its
		o.text += fmt.Sprintf(", of %s %s", p, digits(its))
	}
	return o
}

// A sameOrdersCheck asks whether protocols are in the same order in two tables, as
// far as they are apart in the first.
type sameOrdersCheck struct {
	A            string  `yaml:"a"`
	B            string  `yaml:"b"`
	ShareAtLeast float64 `yaml:"share_at_least"`
}

func (c *sameOrdersCheck) prepare() ([]string, error) {
	if !(c.ShareAtLeast > 0) || c.ShareAtLeast > 1 || c.A == c.B {
		return nil, errors.New("it takes two tables, and a share_at_least of more than 0 and at most 1")
	}
	return cellsOf(c.A, c.B)
}

func (c *sameOrdersCheck) evaluate(f figures) outcome {
	same, all := 0, 0
	get := func(table, config, workload, protocol string) Value {
		return f.m.Cells[Cell{table, config, workload, protocol}]
	}
	eachColumn(func(_ int, config, workload string) {
		for i, p := range Protocols {
			for _, q := range Protocols[i+1:] {
				a, b := get(c.A, config, workload, p), get(c.A, config, workload, q)
				if a.Unstable || b.Unstable || !isApart(c.A, a.Number, b.Number) {
					continue
				}
				all++
				x, y := get(c.B, config, workload, p), get(c.B, config, workload, q)
				if better(c.A, a, b) == better(c.B, x, y) && better(c.B, x, y) != better(c.B, y, x) {
					same++
				}
			}
		}
	})
	if all == 0 {
		return outcome{text: "no two protocols are apart"}
	}
	share := float64(same) / float64(all)
	text := fmt.Sprintf("%d of %d orders are the same, wanted %s", same, all, percent(c.ShareAtLeast))
	return outcome{share >= c.ShareAtLeast, text}
}

// paperProtocols returns an error if one of the names is not of the paper's
// protocols.
func paperProtocols(names ...string) error {
	for _, n := range names {
		if !slices.Contains(Protocols, n) {
			return fmt.Errorf("the paper has no protocol %q", n)
		}
	}
	return nil
}
