package report

import (
	"fmt"
	"io"
	"math"
)

// A standing is how a figure compares with the first result's under a limit.
type standing string

// The standings, from bad to good, as tables have them.
const (
	beyond   standing = "FAIL"
	missing  standing = "missing" // on one of the two sides
	near     standing = "ok"
	byChance standing = "seeds" // beyond, but what seeds have overlaps
	few      standing = "few"   // samples on either side: held to no limit
	noFigure standing = ""      // words, or nothing on both sides
)

// standing compares a figure with the first result's: it has to be within the
// limit, or the same where the first is 0. Unstable is a figure, like no number and like
// itself. Depths that differ by less than a frame are the same, unless nothing may differ.
func (c *Comparison) standing(first, v Value) standing {
	switch {
	case c.Within == nil || !first.there() && !v.there():
		return noFigure
	case !first.there() || !v.there():
		return missing
	case first.Unstable != v.Unstable:
		return beyond
	case first.Value == nil || v.Value == nil: // unstable in both
		return noFigure
	case first.Few || v.Few:
		return few
	case v.Relative == nil && *v.Value == *first.Value, v.Relative != nil && math.Abs(*v.Relative) <= *c.Within:
		return near
	case *c.Within > 0 && math.Abs(*v.Value-*first.Value) < first.least:
		return near
	case overlap(first.Seeds, v.Seeds):
		return byChance
	}
	return beyond
}

// there reports whether the value is a number, or unstable.
func (v *Value) there() bool { return v.Value != nil || v.Unstable }

// overlap reports whether two lists in order, of several figures each, have a range in
// common.
func overlap(a, b []float64) bool {
	return len(a) > 1 && len(b) > 1 && a[0] <= b[len(b)-1] && b[0] <= a[len(a)-1]
}

// limited calls each for every figure that a limit is for: those of results but
// the first that are numbers.
func (c *Comparison) limited(each func(result int, row ComparisonRow, s standing)) {
	for _, row := range c.Rows {
		for i, v := range row.Values[1:] {
			if s := c.standing(row.Values[0], v); s != noFigure {
				each(i+1, row, s)
			}
		}
	}
}

// worst is the worst standing of a row's figures.
func (c *Comparison) worst(row ComparisonRow) standing {
	found := map[standing]bool{}
	for _, v := range row.Values[1:] {
		found[c.standing(row.Values[0], v)] = true
	}
	for _, s := range []standing{beyond, missing, byChance, near, few} {
		if found[s] {
			return s
		}
	}
	return noFigure
}

// A Count is how many figures of a comparison have a limit and are in both
// results, how many of them differ by more, and how many are missing on one side.
type Count struct{ Limited, Beyond, Missing int }

// Count counts figures by how they compare with the first result's.
func (c *Comparison) Count() (n Count) {
	c.limited(func(_ int, _ ComparisonRow, s standing) {
		switch s {
		case beyond:
			n.Limited++
			n.Beyond++
		case near, byChance:
			n.Limited++
		case missing:
			n.Missing++
		}
	})
	return n
}

// OK reports whether no figure differs by more than the limit or is missing.
func (n Count) OK() bool { return n.Beyond == 0 && n.Missing == 0 }

// Told is how many figures differ from the first result's by more than the limit,
// or are missing, in words. There has to be a limit.
func (c *Comparison) Told() string {
	n := c.Count()
	text := fmt.Sprintf("%d of %d figures differ by more than %s", n.Beyond, n.Limited, percent(*c.Within))
	if n.Missing > 0 {
		text += fmt.Sprintf(", %d are missing on one side", n.Missing)
	}
	return text
}

// JUnit writes the comparison as a JUnit file: the suites of every result, as
// Outcome.JUnit has them, and if there is a limit a suite for each result but
// the first, with a case for each figure.
func (c *Comparison) JUnit(w io.Writer) error {
	var suites []junitSuite
	for i, s := range c.summaries {
		suites = append(suites, Outcome{Summary: s}.suites(shortName(c.Results[i], c.Results))...)
	}
	if c.Within != nil {
		figures := make([]junitSuite, len(c.Results))
		c.limited(func(i int, row ComparisonRow, s standing) {
			test := junitCase{Name: row.Variant + ": " + row.Metric}
			v := &row.Values[i]
			switch s {
			case few:
				test.Skipped = &junitResult{Message: "fewer than 100 samples"}
			case beyond, missing:
				kind := "differs"
				if s == missing {
					kind = string(missing)
				}
				test.Failure = &junitResult{
					Type: kind,
					Message: fmt.Sprintf("got %s, want %s within %s", v.text(), row.Values[0].text(),
						percent(*c.Within)),
					Text: v.difference(),
				}
			}
			suite := &figures[i]
			suite.Name = shortName(c.Results[i], c.Results) + ".against." + shortName(c.Results[0], c.Results)
			suite.add(test)
		})
		for _, s := range figures {
			if s.Tests > 0 {
				suites = append(suites, s)
			}
		}
	}
	return writeJUnit(w, "sirdbed compare", suites...)
}

// Markdown writes the comparison as a page of Markdown, a table for each variant.
func (c *Comparison) Markdown(w io.Writer) error {
	m := &markdown{w: w}
	if c.Within == nil {
		m.line("## Comparison")
	} else {
		m.line("## Comparison: %s", c.Told())
	}
	for i, line := range c.Differences {
		if i == 0 {
			m.line("")
		}
		m.line("%s", cell(line)+"  ")
	}
	for _, t := range c.tables() {
		m.table(t)
	}
	return m.err
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
