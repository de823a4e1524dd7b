package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/capture/report"
	"sirdbed/emu/tree"
)

// writePage writes report.html of a sweep, and its figures as pictures in plots.
func (t *sweepTable) writePage(dir *tree.Dir, o *SweepOutcome, about, command string) error {
	figures, left := t.figures()
	page, err := t.page(o, figures, left, about, command).HTML()
	if err != nil {
		return err
	}
	return errors.Join(dir.WriteText(report.PageFile, page), writePlots(dir, figures))
}

// writePlots writes figures as pictures into the directory plots.
func writePlots(dir *tree.Dir, figures []report.Figure) error {
	plots, err := dir.Make(report.PlotsDir)
	if err != nil {
		return err
	}
	defer plots.Close()
	var errs []error
	for i := range figures {
		svg, err := figures[i].SVG()
		if err == nil {
			err = plots.WriteText(figures[i].Name+".svg", svg)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// page is report.html.
func (t *sweepTable) page(o *SweepOutcome, figures []report.Figure, left int, about, command string) *report.Page {
	p := &report.Page{
		Title: o.Scenario + ", swept", Command: command, Figures: figures,
		Footer: "sirdbed. A row for each point is in sweep.parquet and sweep.json, the plots as pictures in plots.",
	}
	if about != "" {
		p.Lead = append(p.Lead, about)
	}
	seconds, on := 0.0, []string{}
	for i := range o.Points {
		r := &o.Points[i]
		if seconds += r.WallSeconds; !slices.Contains(on, r.Engine) {
			on = append(on, r.Engine)
		}
	}
	text := count(len(o.Points), "point")
	if len(o.Axes) > 0 {
		text += " over " + strings.Join(o.Axes, ", ")
	}
	p.Lead = append(p.Lead, fmt.Sprintf("%s, on the engine %s: %s of runs.", text, strings.Join(on, ", "),
		rough(inSeconds(seconds))))
	if o.Missing > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d points are missing: the same command goes on with them.", o.Missing))
	}
	for _, n := range t.noEffect {
		p.Notes = append(p.Notes, "The "+n.String()+".")
	}
	if left > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("The first %d figures are here. %d more are left out: with --x and --by "+
			"other axes are drawn, and --metric chooses metrics.", len(figures), left))
	}
	all := sweepTable{jobs: t.jobs, found: t.found, metrics: t.metrics}
	p.Sections = []report.Section{{Title: "Points", Open: len(figures) == 0, Tables: all.tables()}}
	if t.series != "" {
		by := *t
		by.by = t.series
		p.Sections = append(p.Sections, report.Section{Title: "By " + t.series, Tables: by.tables()})
	}
	return p
}

// commandAgain is a command line that does the same again, without some of its options.
func commandAgain(c *cobra.Command, args []string, without ...string) string {
	words := strings.Fields(c.CommandPath())
	for _, a := range args {
		words = append(words, quoted(a))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		switch v := f.Value.(type) {
		case pflag.SliceValue:
			values = v.GetSlice()
			if f.Value.Type() == "stringSlice" {
				values = []string{strings.Join(values, ",")}
			}
		}
		for _, value := range values {
			switch {
			case f.Name == "out" || f.Name == "json" || slices.Contains(without, f.Name):
			case f.Value.Type() == "bool" && value == "true":
				words = append(words, "--"+f.Name)
			case f.Value.Type() == "bool":
				words = append(words, "--"+f.Name+"="+value)
			default:
				words = append(words, "--"+f.Name, quoted(value))
			}
		}
	})
	return strings.Join(words, " ")
}
