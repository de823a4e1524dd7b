package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
)

// A ResultsDiff is what results diff --json prints.
type ResultsDiff struct {
	Results [2]string `json:"results"`
	Kind    string    `json:"kind"` // of both
	Same    int       `json:"same"` // points, or cells and quantities, that are in both
	// The names of those that are in one alone, and of those that are by other code than this
	// program's.
	Only    [2][]string    `json:"only"`
	Stale   [2][]string    `json:"stale"`
	Damaged [2][]string    `json:"damaged"`
	Changed []ChangedPoint `json:"changed"` // the most first
}

// A ChangedPoint is one that differs by more than rounding.
type ChangedPoint struct {
	Name   string         `json:"name"`
	Keys   [2]string      `json:"keys"` // of the experiments: two where these differ
	Codes  [2]string      `json:"codes"`
	Of     int            `json:"of"` // figures that there are
	Values []ChangedValue `json:"values"`
}

// A ChangedValue is a figure that differs, or a word.
type ChangedValue struct {
	Name   string `json:"name"`
	First  any    `json:"first"` // nil: it has none
	Second any    `json:"second"`
	// Share is the difference as a share of the larger: 2 for words, and for numbers of which one is as
	// much below 0 as the other above.
	Share float64 `json:"share"`
}

// rounding is by how much two figures of points differ at most that are the same: points
// keep six digits.
const rounding = 1.05e-5

// diffRows is how many changes are printed unless --all is given.
const diffRows = 20

func newResultsDiff() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Show what changed between two sweeps, reproductions or directories of points",
		Long: text(`
			Show what changed between A and B: the directories of two sweeps' results, of two reproductions', or two
			directories of points, such as ` + pointsDir + ` and scenarios/paper/points. It lists points that are in one
			only, points by other code than this program's, and figures that differ by more than the rounding of what is
			kept, the largest difference first.

			Points of directories are matched by experiment, those of sweeps by their place in the grid. What depends on
			the machine, such as times, does not count.

			Exit codes: 0 nothing differs, 2 bad input, 4 something does. Other code alone is no difference.`),
		Example: examples(`
			sirdbed results diff results/points scenarios/paper/points
			sirdbed results diff results/small-wkc-sweep-20260101-120000 results/small-wkc-sweep-20260102-120000 --all
			sirdbed results diff before after --json`),
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeDiffed,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := diffResults(args[0], args[1])
			if err != nil {
				return badInput(errors.New(report.Printable(err.Error())))
			}
			if asJSON {
				err = printJSON(c.OutOrStdout(), d)
			} else {
				err = d.print(c.OutOrStdout(), all)
			}
			if err == nil && d.differ() {
				return &codedError{exitUnmet, errReported}
			}
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print every figure that differs, and every point")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with every figure that differs")
	return c
}

// completeDiffed completes what results diff takes.
func completeDiffed(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list := append(resultsWith(sweepJSON, comparisonJSON), pointsDir)
	return starting(list, begun), cobra.ShellCompDirectiveFilterDirs
}

// diffResults compares two directories.
func diffResults(a, b string) (*ResultsDiff, error) {
	first, err := readDiffItems(a)
	if err != nil {
		return nil, err
	}
	second, err := readDiffItems(b)
	if err != nil {
		return nil, err
	}
	if first.kind != second.kind {
		return nil, fmt.Errorf("%s is a %s, %s a %s: want two of one kind", a, first.kind, b, second.kind)
	}
	d := &ResultsDiff{Results: [2]string{a, b}, Kind: first.kind, Changed: []ChangedPoint{}}
	for i, items := range []*diffItems{first, second} {
		other := []*diffItems{second, first}[i]
		d.Only[i], d.Stale[i], d.Damaged[i] = []string{}, []string{}, append([]string{}, items.damaged...)
		for id, item := range items.items {
			if item.stale && item.code != "" {
				d.Stale[i] = append(d.Stale[i], item.name)
			}
			if other.items[id] == nil {
				d.Only[i] = append(d.Only[i], item.name)
			}
		}
		slices.Sort(d.Only[i])
		slices.Sort(d.Stale[i])
	}
	for _, id := range slices.Sorted(maps.Keys(first.items)) {
		if other := second.items[id]; other != nil {
			d.compare(first.items[id], other)
		}
	}
	slices.SortStableFunc(d.Changed, func(a, b ChangedPoint) int { return cmp.Compare(b.most(), a.most()) })
	return d, nil
}

// compare compares two points that are the same, or at the same place.
func (d *ResultsDiff) compare(a, b *diffItem) {
	p := ChangedPoint{Name: a.name, Keys: [2]string{a.key, b.key}, Codes: [2]string{a.code, b.code}}
	names := slices.Sorted(maps.Keys(a.values))
	for name := range b.values {
		if _, ok := a.values[name]; !ok {
			names = append(names, name)
		}
	}
	p.Of = len(names)
	for _, name := range names {
		if share := differing(a.values[name], b.values[name]); share > rounding {
			p.Values = append(p.Values, ChangedValue{name, a.values[name], b.values[name], share})
		}
	}
	if len(p.Values) == 0 {
		d.Same++
		return
	}
	slices.SortStableFunc(p.Values, func(a, b ChangedValue) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
	d.Changed = append(d.Changed, p)
}

// differing is by what share of the larger two figures differ; words, and what is in one
// alone, by 2.
func differing(a, b any) float64 {
	x, ok1 := a.(float64)
	y, ok2 := b.(float64)
	switch {
	case a == b:
		return 0
	case !ok1 || !ok2:
		return 2
	}
	return math.Abs(x-y) / max(math.Abs(x), math.Abs(y))
}

// most is the largest change of a number, or of anything where there is none.
func (p *ChangedPoint) most() float64 { return p.mostValue().Share }

// mostValue is the number that changed the most, or a word that did where no number changed.
// Digests, which change with anything, say nothing about how much.
func (p *ChangedPoint) mostValue() *ChangedValue {
	for i := range p.Values {
		if v := &p.Values[i]; isNumber(v.First) && isNumber(v.Second) {
			return v
		}
	}
	for i := range p.Values {
		if v := &p.Values[i]; v.Name != "digest" {
			return v
		}
	}
	return &ChangedValue{Name: p.Values[0].Name, First: p.Values[0].First, Second: p.Values[0].Second}
}

func isNumber(v any) bool {
	_, ok := v.(float64)
	return ok
}

// differ reports whether the two differ.
func (d *ResultsDiff) differ() bool {
	return len(d.Changed)+len(d.Only[0])+len(d.Only[1])+len(d.Damaged[0])+len(d.Damaged[1]) > 0
}

// print writes the differences for a terminal.
func (d *ResultsDiff) print(w io.Writer, all bool) error {
	var text bytes.Buffer
	if err := d.write(&text, all); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

func (d *ResultsDiff) write(w io.Writer, all bool) error {
	what := "points"
	if d.Kind == "reproduction" {
		what = "cells, quantities and claims"
	}
	fmt.Fprintf(w, "%s: %d the same, %d changed\n", what, d.Same, len(d.Changed))
	for i, path := range d.Results {
		for _, list := range []struct {
			names []string
			text  string
		}{
			{d.Only[i], "only in %s: %d"}, {d.Stale[i], "by other code than this sirdbed's in %s: %d"},
			{d.Damaged[i], "damaged in %s: %d"},
		} {
			if len(list.names) == 0 {
				continue
			}
			fmt.Fprintf(w, list.text+"\n", report.Printable(path), len(list.names))
			for k, name := range list.names {
				if k == diffRows/2 && !all {
					fmt.Fprintf(w, "  and %d more: --all lists them\n", len(list.names)-k)
					break
				}
				fmt.Fprintf(w, "  %s\n", report.Printable(name))
			}
		}
	}
	if len(d.Changed) == 0 {
		return nil
	}
	return report.PrintTables(w, []report.Table{d.table(all)})
}

// table has the changes: of each point the largest, or all.
func (d *ResultsDiff) table(all bool) report.Table {
	first, second := filepath.Base(d.Results[0]), filepath.Base(d.Results[1])
	if first == second {
		first, second = d.Results[0], d.Results[1]
	}
	t := report.Table{
		Title: "Changed", Left: 2, Header: []string{"point", "figure", first, second, "diff", "changed"},
		Note: "diff: to the first, as a share of it. changed: how many of a point's figures did.",
	}
	left, others := 0, 0
	for i := range d.Changed {
		p := &d.Changed[i]
		name := report.Printable(p.Name)
		if p.Keys[0] != p.Keys[1] {
			name += "!"
			others++
		}
		if !all {
			if i >= diffRows {
				left++
				continue
			}
			t.Rows = append(t.Rows, p.mostValue().row(name, fmt.Sprintf("%d of %d", len(p.Values), p.Of)))
			continue
		}
		for k := range p.Values {
			t.Rows = append(t.Rows, p.Values[k].row(name, fmt.Sprintf("%d of %d", len(p.Values), p.Of)))
		}
	}
	if others > 0 {
		t.Note += " !: the experiment is another."
	}
	if left > 0 {
		t.Note += fmt.Sprintf(" %d more: --all lists them.", left)
	}
	return t
}

// row is a line of the table.
func (v *ChangedValue) row(point, changed string) []string {
	diff := "-"
	x, ok1 := v.First.(float64)
	y, ok2 := v.Second.(float64)
	if ok1 && ok2 && x != 0 {
		diff = fmt.Sprintf("%+.3g %%", 100*(y/x-1))
	}
	return []string{point, report.Printable(v.Name), valueText(v.First), valueText(v.Second), diff, changed}
}

// valueText is a figure or a word.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.6g", v)
	}
	return report.Printable(fmt.Sprint(v))
}
