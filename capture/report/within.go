package report

import (
	"fmt"
	"io"
	"math"
)

// within tells whether a figure is as near to the first result's as the
// comparison asks for: within its limit, or the same where the first is 0.
func (c *Comparison) within(first, v Value) bool {
	switch {
	case c.Within == nil || first.Value == nil && v.Value == nil:
		return true
	case first.Value == nil || v.Value == nil:
		return false
	case v.Relative == nil:
		return *v.Value == *first.Value
	}
	return math.Abs(*v.Relative) <= *c.Within
}

// limited calls each for every figure that a limit is for: those of results but
// the first that are numbers. Figures of few samples, on either side, are held
// to none.
func (c *Comparison) limited(each func(result int, row ComparisonRow, few, ok bool)) {
	for _, row := range c.Rows {
		first := row.Values[0]
		for i, v := range row.Values[1:] {
			if first.Value != nil || v.Value != nil {
				few := first.Few || v.Few
				each(i+1, row, few, few || c.within(first, v))
			}
		}
	}
}

// Beyond counts the figures that differ from the first result's by more than
// the limit, and those that have one.
func (c *Comparison) Beyond() (beyond, of int) {
	c.limited(func(_ int, _ ComparisonRow, few, ok bool) {
		if !ok {
			beyond++
		}
		if !few {
			of++
		}
	})
	return beyond, of
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
		c.limited(func(i int, row ComparisonRow, few, ok bool) {
			test := junitCase{Name: row.Variant + ": " + row.Metric}
			v := &row.Values[i]
			switch {
			case few:
				test.Skipped = &junitResult{Message: "fewer than 100 samples"}
			case !ok:
				test.Failure = &junitResult{
					Type: "differs",
					Message: fmt.Sprintf("got %s, want %s within %s", v.text(), row.Values[0].text(),
						percent(*c.Within)),
					Text: v.difference(),
				}
			}
			s := &figures[i]
			s.Name = shortName(c.Results[i], c.Results) + ".against." + shortName(c.Results[0], c.Results)
			s.add(test)
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
		beyond, of := c.Beyond()
		m.line("## Comparison: %d of %d figures differ by more than %s", beyond, of, percent(*c.Within))
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
