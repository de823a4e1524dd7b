package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"sirdbed/capture/results"
)

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

// tables are the comparison's: one for each variant, of grids one for each metric, and one
// of orders.
func (c *Comparison) tables() (tables []Table) {
	several := slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool {
		return slices.ContainsFunc(r.Values, func(v Value) bool { return len(v.Seeds) > 1 })
	})
	for _, row := range c.Rows {
		title, first := row.Variant, row.Metric
		if c.summaries == nil {
			title, first = row.Metric, row.Variant
		}
		if n := len(tables); n == 0 || tables[n-1].Title != title {
			tables = append(tables, Table{Title: title, Left: 1, Header: c.header(several)})
		}
		cells := []string{first}
		for i, v := range row.Values {
			cells = append(cells, v.text())
			if i > 0 && len(row.Values) == 2 {
				cells = append(cells, v.change())
			}
			if i > 0 {
				cells = append(cells, v.difference())
			}
		}
		if several {
			cells = append(cells, row.spread())
		}
		if c.Within != nil {
			cells = append(cells, string(c.worst(row)))
		}
		t := &tables[len(tables)-1]
		t.Rows = append(t.Rows, cells)
	}
	if n := len(tables); n > 0 {
		tables[n-1].Note = c.note(several)
	}
	if t := c.orders(); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	return tables
}

// header is that of each table. several says that some figures are of several seeds.
func (c *Comparison) header(several bool) []string {
	header := []string{"metric"}
	if c.summaries == nil {
		header[0] = "point"
	}
	for i, name := range c.Results {
		header = append(header, shortName(name, c.Results))
		if i > 0 && len(c.Results) == 2 {
			header = append(header, "change")
		}
		if i > 0 {
			header = append(header, "diff")
		}
	}
	if several {
		header = append(header, "spread")
	}
	if c.Within != nil {
		header = append(header, "within "+percent(*c.Within))
	}
	return header
}

// note explains the tables.
func (c *Comparison) note(several bool) string {
	note := "diff: to the first, as a share of it. "
	if len(c.Results) == 2 {
		note = "change: the second less the first; diff: as a share of the first. "
	}
	if several {
		note += "Of several seeds a figure is the median; spread: largest less smallest of the seeds, over the " +
			"median, the larger one. "
	}
	if c.hasFew() {
		note += fewNote
		if c.Within != nil {
			note += " These have no limit."
		}
	}
	if c.Within != nil {
		if several {
			note += " seeds: by more, but the seeds of both overlap, so that it may be chance."
		}
		note += " missing: not on both sides."
	}
	if right, of := c.inOrder(); of > 0 {
		note += fmt.Sprintf(" Orders: %d of %d pairs that are apart in the first are in the same order.", right, of)
	}
	return strings.TrimSpace(strings.ReplaceAll(note, "  ", " "))
}

// hasFew reports whether a figure is of few samples.
func (c *Comparison) hasFew() bool {
	return slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool {
		return slices.ContainsFunc(r.Values, func(v Value) bool { return v.Few })
	})
}

func (v *Value) text() string {
	switch {
	case v.Text != "":
		return v.Text
	case v.Unstable:
		return "unst"
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

// change is the difference in the figure's unit.
func (v *Value) change() string {
	if v.Less == nil {
		return ""
	}
	text := number(*v.Less)
	if *v.Less > 0 {
		text = "+" + text
	}
	return text
}

// spread is the largest spread of a row's seeds.
func (r *ComparisonRow) spread() string {
	most := -1.0
	for _, v := range r.Values {
		if n := len(v.Seeds); n > 1 && v.Value != nil && *v.Value != 0 {
			most = max(most, (v.Seeds[n-1]-v.Seeds[0]) / *v.Value)
		}
	}
	if most < 0 {
		return ""
	}
	return percent(most)
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
