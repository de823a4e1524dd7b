package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// The files of a reproduction's results, beside report.html and plots.
const (
	comparisonJSON = "comparison.json"
	resultsText    = "RESULTS.md"
)

// A reproduction is what was found of the paper's evaluation.
type reproduction struct {
	o          *reproduceOptions
	f          *reproduce.Found
	lacks      string // what was left out
	partial    bool   // cells over all loads were, since the plan has some loads alone
	command    string // line that made it
	comparison *paper.Comparison
	measured   *paper.Measured
	findings   []paper.Finding
	figures    []report.Figure
}

// gridFormat is the number of the format of sweep.json and comparison.json.
const gridFormat = 1

// A ComparedPaper is comparison.json.
type ComparedPaper struct {
	Format   int                    `json:"format"`
	Scale    string                 `json:"scale,omitempty"`
	Engine   string                 `json:"engine,omitempty"`
	Samples  float64                `json:"samples,omitempty"` // messages of a point, as a share of the scale's
	Points   int                    `json:"points"`
	Missing  int                    `json:"missing"`
	Notes    []string               `json:"notes,omitempty"` // what a reader has to know first
	Scores   paper.Scores           `json:"scores"`
	Cells    []paper.Row            `json:"cells"`
	Claims   []paper.Finding        `json:"claims"`
	Measured map[string]paper.Value `json:"quantities"`
}

// show prints what a reproduction came to, and writes its files. lacks says what was left
// out, and why, "" if nothing was; command does it again.
func (o *reproduceOptions) show(c *cobra.Command, f *reproduce.Found, lacks, command string) error {
	r := &reproduction{o: o, f: f, lacks: lacks, command: command, measured: f.Measured()}
	r.figures, r.partial = f.Figures(r.measured), f.PartialMaxima()
	if r.there() == 0 {
		return nil
	}
	var err1, err2 error
	r.comparison, err1 = paper.Compare(r.measured)
	r.findings, err2 = paper.Evaluate(r.measured)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return showGrid(c.OutOrStdout(), o.out, "reproduce", r.write, func() []report.Table {
		return slices.Concat(r.comparison.Grids(), scoreTables(r.comparison.Scores),
			[]report.Table{paper.ClaimsTable(r.findings)})
	})
}

// missing counts the points that are not there, without those that need not be run, or are left
// out since this machine cannot.
func (r *reproduction) missing() (n int) {
	for _, of := range r.missingByRound() {
		n += of
	}
	return n
}

// missingByRound counts them for each of the plan's rounds.
func (r *reproduction) missingByRound() []int {
	counts := make([]int, len(reproduce.Rounds))
	for i, p := range r.f.Points {
		if p == nil && !r.f.Needless(i) && !(r.lacks != "" && r.f.Jobs[i].Optional) {
			counts[r.f.Jobs[i].Round]++
		}
	}
	return counts
}

// there counts the points that are there.
func (r *reproduction) there() (n int) {
	for _, p := range r.f.Points {
		if p != nil {
			n++
		}
	}
	return n
}

// write writes all files.
func (r *reproduction) write(dir *tree.Dir) error {
	page, err := r.page().HTML()
	if err != nil {
		return err
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	errs := []error{
		dir.WriteText(report.PageFile, page), dir.WriteText(resultsText, text),
		dir.WriteJSON(comparisonJSON, ComparedPaper{
			Format: gridFormat, Scale: r.o.scale, Engine: r.o.engine, Samples: r.o.samples,
			Points: r.there(), Missing: r.missing(), Notes: r.notes(), Scores: r.comparison.Scores,
			Cells: r.comparison.Rows, Claims: r.findings, Measured: r.measured.Quantities,
		}),
	}
	return errors.Join(append(errs, writePlots(dir, r.figures))...)
}

// page is report.html.
func (r *reproduction) page() *report.Page {
	p := &report.Page{
		Title: reproducedTitle, Lead: r.lead(), Notes: r.notes(), Command: r.command, Figures: r.figures,
		Sections: append(r.sections(), report.Section{Title: "All cells", Tables: r.comparison.Cells(false)},
			report.Section{Title: madeTitle, Notes: append(r.conditions(), r.made()...)}),
		Footer: "sirdbed. All cells and claims are in comparison.json, the figures as pictures in plots.",
	}
	return p
}

// notes are what a reader has to know first.
func (r *reproduction) notes() (list []string) {
	if r.lacks != "" {
		list = append(list, "Left out: "+r.lacks)
	}
	if needless := r.f.NeedlessJobs(); needless != "" {
		list = append(list, "Not run: "+needless)
	}
	if r.partial {
		list = append(list, partialMaxima())
	}
	switch r.o.scale {
	case "paper":
	case "smoke":
		list = append(list, "Scale smoke shows that everything runs: its numbers mean nothing.")
	default:
		list = append(list, otherSize)
	}
	degraded := 0
	for p := range r.distinct() {
		if p.Result.Verdict == results.Degraded {
			degraded++
		}
	}
	if degraded > 0 {
		list = append(list, fmt.Sprintf("%s DEGRADED: trust the figures less.", count(degraded, "point")))
	}
	if r.o.samples != 1 {
		list = append(list, fmt.Sprintf("Points have %v of their messages (--samples).", r.o.samples))
	}
	return list
}

// sections are the tables, under the titles that page and RESULTS.md have. A section without
// a table is left out.
func (r *reproduction) sections() []report.Section {
	claims := paper.ClaimDetails(r.findings)
	cells := r.comparison.Cells(true)
	if r.o.scale == "paper" {
		cells = append(cells, r.comparison.Causes()...)
	}
	list := []report.Section{
		{Title: "How much agrees", Tables: scoreTables(r.comparison.Scores)},
		{Title: "Tables beside the print", Short: "those of the appendix", Tables: r.comparison.Grids()},
		{
			Title:  "Cells that differ, are unstable on one side, or have a suspect print",
			Tables: cells,
		},
		{Title: "Orders", Tables: []report.Table{r.comparison.WrongOrders()}},
		{Title: "Normalized", Tables: r.normalized()},
		{Title: "Claims", Short: strings.TrimPrefix(claims[0].Title, "Claims: "), Tables: claims},
		{Title: "Arrivals", Short: "released, and true Poisson", Tables: r.arrivals()},
		{Title: "Differences", Short: "from the simulator", Tables: []report.Table{reproduce.Differences()}},
	}
	return slices.DeleteFunc(list, func(s report.Section) bool { return len(s.Tables) == 0 })
}

// scoreTables are the scores, of all and of each table that has a number.
func scoreTables(s paper.Scores) []report.Table {
	list := []report.Table{s.Table()}
	if t := s.ByTable(); len(t.Rows) > 0 {
		list = append(list, t)
	}
	return list
}

// normalized are the normalized tables, and the means of both kinds, as far as they have rows.
func (r *reproduction) normalized() (list []report.Table) {
	for _, t := range paper.PrintedTables {
		list = append(list, paper.Normalize(r.measured, t).Grid())
	}
	list = append(list, paper.MeansTable(r.measured))
	return slices.DeleteFunc(list, func(t report.Table) bool { return len(t.Rows) == 0 })
}

// arrivals compares p99 slowdown with the released arrivals and with Poisson ones, where both
// were run. dcPIM is left out: what stands beside the print has Poisson arrivals as well.
func (r *reproduction) arrivals() []report.Table {
	t := report.Table{
		Title: "p99 slowdown at half load, by how messages arrive", Left: 3,
		Header: []string{"configuration", "workload", "protocol", "released", "Poisson", "ratio"},
	}
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range r.f.Protocols(config) {
				a, ok1 := r.f.Slowdown(config, workload, protocol, "released")
				b, ok2 := r.f.Slowdown(config, workload, protocol, "poisson")
				if !ok1 || !ok2 || protocol == "dcpim" {
					continue
				}
				row := []string{config, workload, protocol, a.Text(), b.Text(), "-"}
				if !a.Unstable && !b.Unstable && a.Number > 0 {
					row[5] = report.Number(b.Number / a.Number)
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []report.Table{t}
}
