package paper

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A figureCheck compares figures, ratios or differences of figures with a number.
// Of, Over and Less are patterns of names; where they stand for lists of different lengths,
// the shorter is repeated.
type figureCheck struct {
	Of     []string  `yaml:"of"`
	Over   []string  `yaml:"over"` // divide by these
	Less   []string  `yaml:"less"` // subtract these
	Than   *quotient `yaml:"than"` // then divide by these quotients
	Take   take      `yaml:"take"`
	Bounds `yaml:",inline"`

	of, over, less, thanOf, thanOver []string // names
}

// A quotient is figures over others.
type quotient struct {
	Of   []string `yaml:"of"`
	Over []string `yaml:"over"`
}

// A take is which of several figures have to be as the bounds say.
type take string

// The takes. Where one ratio of several is taken, those with an unstable side are left
// out: they say that something is unstable, not how much more or less it is. Each and
// any judge them as infinite or 0; each does not hold where two figures have no ratio or
// difference, since both are unstable, or both 0.
const (
	takeEach     take = ""
	takeAny      take = "any"
	takeLargest  take = "largest"
	takeSmallest take = "smallest"
)

func (c *figureCheck) prepare() (names []string, err error) {
	if len(c.Of) == 0 || len(c.Over) > 0 && len(c.Less) > 0 {
		return nil, errors.New("it needs of, and over or less but not both")
	}
	if c.Than != nil && (len(c.Than.Of) == 0 || len(c.Than.Over) == 0) {
		return nil, errors.New("than needs of and over")
	}
	if !slices.Contains([]take{takeEach, takeAny, takeLargest, takeSmallest}, c.Take) {
		return nil, fmt.Errorf("take cannot be %q", c.Take)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	expandInto := func(list *[]string, patterns []string) {
		if err == nil {
			*list, err = expandAll(patterns)
			names = append(names, *list...)
		}
	}
	expandInto(&c.of, c.Of)
	expandInto(&c.over, c.Over)
	expandInto(&c.less, c.Less)
	if c.Than != nil {
		expandInto(&c.thanOf, c.Than.Of)
		expandInto(&c.thanOver, c.Than.Over)
	}
	for _, list := range [][]string{c.over, c.less, c.thanOf, c.thanOver} {
		long, short := max(len(list), len(c.of)), min(len(list), len(c.of))
		if err == nil && short > 0 && long%short != 0 {
			err = fmt.Errorf("%d names and %d others do not pair", len(c.of), len(list))
		}
	}
	return names, err
}

// A pair is a figure that is compared, and what it is called.
type pair struct {
	name   string
	figure float64
}

func (c *figureCheck) evaluate(f figures) outcome {
	var list []pair
	undefined := 0
	for i := range max(len(c.of), len(c.over), len(c.less), len(c.thanOf), len(c.thanOver)) {
		p, unstable := c.pair(f, i)
		switch {
		case math.IsNaN(p.figure):
			undefined++
		case unstable && len(c.over) > 0 && (c.Take == takeLargest || c.Take == takeSmallest):
			undefined++
		default:
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return outcome{text: fmt.Sprintf("unstable or nothing on both sides: all of %d", undefined)}
	}
	return c.judge(list, undefined)
}

// pair returns the i-th figure: NaN if it is not defined. It reports whether anything
// that it is made of is unstable.
func (c *figureCheck) pair(f figures, i int) (p pair, unstable bool) {
	of := func(list []string) float64 {
		x := f.of(at(list, i))
		unstable = unstable || math.IsInf(x, 0)
		return x
	}
	p = pair{name: at(c.of, i), figure: of(c.of)}
	if len(c.over) > 0 {
		p.figure /= of(c.over)
		p.name += " over " + at(c.over, i)
	}
	if len(c.less) > 0 {
		if p.figure -= of(c.less); math.IsInf(p.figure, -1) {
			p.figure = math.NaN() // less than infinite is no difference
		}
		p.name += " less " + at(c.less, i)
	}
	if c.Than != nil {
		p.figure /= of(c.thanOf) / of(c.thanOver)
	}
	return p, unstable
}

// judge takes what is to be taken of the figures.
func (c *figureCheck) judge(list []pair, undefined int) outcome {
	slices.SortStableFunc(list, func(a, b pair) int { return cmp.Compare(a.figure, b.figure) })
	least, most := list[0], list[len(list)-1]
	met := 0
	var missed []string
	for _, p := range list {
		if c.met(p.figure) {
			met++
		} else {
			missed = append(missed, fmt.Sprintf("%s: %s", p.name, digits(p.figure)))
		}
	}
	o := outcome{}
	switch {
	case len(list) == 1:
		o.holds = met == 1
		o.text = fmt.Sprintf("%s, wanted %s", digits(least.figure), c.Bounds)
	case c.Take == takeLargest:
		o.holds = c.met(most.figure)
		o.text = fmt.Sprintf("largest %s (%s), wanted %s", digits(most.figure), most.name, c.Bounds)
	case c.Take == takeSmallest:
		o.holds = c.met(least.figure)
		o.text = fmt.Sprintf("smallest %s (%s), wanted %s", digits(least.figure), least.name, c.Bounds)
	default:
		o.holds = c.Take == takeAny && met > 0 || met == len(list)
		o.text = fmt.Sprintf("%s to %s, wanted %s: %d of %d",
			digits(least.figure), digits(most.figure), c.Bounds, met, len(list))
		if !o.holds {
			o.text += "; not " + strings.Join(missed[:min(3, len(missed))], ", ")
		}
	}
	if undefined > 0 {
		o.holds = o.holds && c.Take != takeEach
		o.text += fmt.Sprintf("; %d more unstable", undefined)
	}
	return o
}

// at returns the i-th of a list that is repeated.
func at(list []string, i int) string { return list[i%len(list)] }
