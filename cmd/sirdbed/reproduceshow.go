package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
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
	command    string // line that made it
	comparison *paper.Comparison
	poisson    *paper.Measured // with true Poisson arrivals at half load
	measured   *paper.Measured
	findings   []paper.Finding
	figures    []report.Figure
}

// A ComparedPaper is comparison.json.
type ComparedPaper struct {
	Format   int                    `json:"format"`
	Scale    string                 `json:"scale,omitempty"`
	Engine   string                 `json:"engine,omitempty"`
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
	r := &reproduction{
		o: o, f: f, lacks: lacks, command: command, measured: f.Measured("released"), poisson: f.Measured("poisson"),
		figures: f.Figures(),
	}
	if r.missing() == len(f.Jobs) {
		return nil
	}
	var err1, err2 error
	r.comparison, err1 = paper.Compare(r.measured)
	r.findings, err2 = paper.Evaluate(r.measured)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	dir, err := makeResults(o.out, "reproduce", time.Now())
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := explainDisk(r.write(dir), dir.Path()); err != nil {
		return err
	}
	tables := append(r.comparison.Grids(), r.comparison.Scores.Table(), paper.ClaimsTable(r.findings))
	if err := report.PrintTables(c.OutOrStdout(), tables); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\nResults: %s\nTo look at: %s\n", dir.Path(), dir.At(report.PageFile))
	return err
}

// missing counts the points that are not there.
func (r *reproduction) missing() (n int) {
	for _, p := range r.f.Points {
		if p == nil {
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
			Format: 1, Scale: r.o.scale, Engine: r.o.engine,
			Points: len(r.f.Points) - r.missing(), Missing: r.missing(), Scores: r.comparison.Scores,
			Cells: r.comparison.Rows, Claims: r.findings, Measured: r.measured.Quantities,
		}),
	}
	return errors.Join(append(errs, writePlots(dir, r.figures))...)
}

// lead says what was run.
func (r *reproduction) lead() []string {
	seeds := map[uint64]bool{}
	codes, others := map[string]bool{}, ""
	wall := 0.0
	for _, p := range r.f.Points {
		if p != nil {
			seeds[p.Experiment.Seed], codes[p.Protocol()+" "+p.Code] = true, true
			wall += p.Result.WallSeconds
			if string(p.Engine) != r.o.engine {
				others = fmt.Sprintf(" (kernel TCP on %s)", p.Engine)
			}
		}
	}
	runs := "one seed"
	if len(seeds) > 1 {
		runs = fmt.Sprintf("up to %d seeds", len(seeds))
	}
	list := []string{
		fmt.Sprintf("The evaluation of the SIRD paper (NSDI '25, section 6), run again on the engine %s%s and "+
			"compared with what was printed. Scale %s: %d of %d points, %s, %.1f CPU hours (%s).", r.o.engine, others,
			r.o.scale, len(r.f.Points)-r.missing(), len(r.f.Points), runs, wall/3600, runtime.Version()),
		r.comparison.Summary(),
	}
	if r.missing() > 0 {
		list = append(list, "Experiments that are not run yet are left out, or marked as not run.")
	}
	list = append(list, "Arrivals are as the released simulator has them unless said: gaps and sizes of one seed, "+
		"and so presumably the printed numbers' (the paper says Poisson). dcPIM is the exception: it runs as in its "+
		"authors' simulator, from which its printed numbers are. Arrivals are Poisson, every data packet is a full "+
		"one, a sender's queue is in no order, links have a delay of 0.65 us, there are no replies, and slowdown "+
		"runs until the acknowledgement; by the others' definition it would be higher.")
	var names []string
	for name := range codes {
		names = append(names, name)
	}
	slices.Sort(names)
	return append(list, "Code: "+strings.Join(names, ", ")+".")
}

// outsideTitle is that of the cells that do not just agree.
const outsideTitle = "Cells that differ, are unstable on one side, or have a suspect print"

// page is report.html.
func (r *reproduction) page() *report.Page {
	s := r.comparison.Scores
	p := &report.Page{
		Title: "SIRD's evaluation, reproduced", Lead: r.lead(), Command: r.command,
		Figures: r.figures,
		Footer:  "sirdbed. All cells and claims are in comparison.json, the figures as pictures in plots.",
	}
	if r.lacks != "" {
		p.Notes = append(p.Notes, "Left out: "+r.lacks)
	}
	if r.o.scale != "paper" {
		p.Notes = append(p.Notes, "At this scale the fabric is smaller than the paper's: orders "+
			"compare, values less so.")
	}
	claims := paper.ClaimDetails(r.findings)
	claims.Sentences = true
	p.Sections = []report.Section{
		{Title: "Scores", Open: true, Tables: []report.Table{s.Table()}},
		{Title: "Tables beside the print", Open: true, Tables: r.comparison.Grids()},
		{Title: outsideTitle, Tables: append(r.comparison.Cells(true), r.comparison.Causes()...)},
		{Title: "Orders", Tables: []report.Table{r.comparison.WrongOrders()}},
		{Title: "All cells", Tables: r.comparison.Cells(false)},
		{Title: "Normalized", Tables: r.normalized()},
		{Title: "Claims", Short: claims.Title, Tables: []report.Table{claims}},
		{Title: "Arrivals", Short: "released, and true Poisson", Tables: []report.Table{r.arrivals()}},
	}
	return p
}

// normalized are the normalized tables, and the means of both kinds.
func (r *reproduction) normalized() (list []report.Table) {
	for _, t := range paper.PrintedTables {
		if n := paper.Normalize(r.measured, t); len(n.Rows) > 0 {
			list = append(list, n.Grid())
		}
	}
	return append(list, paper.MeansTable(r.measured))
}

// arrivals compares p99 slowdown with the released arrivals and with Poisson ones.
func (r *reproduction) arrivals() report.Table {
	t := report.Table{
		Title: "p99 slowdown at half load, by how messages arrive", Left: 3,
		Header: []string{"configuration", "workload", "protocol", "released", "Poisson", "ratio"},
	}
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range r.f.Protocols(config) {
				c := paper.Cell{Table: paper.P99Slowdown, Config: config, Workload: workload, Protocol: protocol}
				a, ok1 := r.measured.Cells[c]
				b, ok2 := r.poisson.Cells[c]
				if !ok1 || !ok2 {
					continue
				}
				row := []string{config, workload, protocol, cellText(a), cellText(b), "-"}
				if !a.Unstable && !b.Unstable && a.Number > 0 {
					row[5] = report.Number(b.Number / a.Number)
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

func cellText(v paper.Value) string {
	if v.Unstable {
		return "unst"
	}
	return report.Number(v.Number)
}

// markdown is RESULTS.md.
func (r *reproduction) markdown() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# SIRD's evaluation, reproduced\n\n%s\n\nMade by `%s`.\n",
		strings.Join(r.lead(), "\n\n"), r.command)
	section := func(title string, tables ...report.Table) error {
		tables = slices.DeleteFunc(tables, func(t report.Table) bool { return len(t.Rows) == 0 && t.Note == "" })
		if len(tables) == 0 {
			return nil
		}
		fmt.Fprintf(&b, "\n## %s\n", title)
		return report.MarkdownTables(&b, tables)
	}
	err := errors.Join(
		section("How much agrees", r.comparison.Scores.Table()),
		section("Tables beside the print", r.comparison.Grids()...),
		section(outsideTitle, append(r.comparison.Cells(true), r.comparison.Causes()...)...),
		section("Orders", r.comparison.WrongOrders()),
		section("Normalized", r.normalized()...),
		section("Claims", paper.ClaimDetails(r.findings)),
		section("Arrivals", r.arrivals()),
	)
	fmt.Fprint(&b, "\n## Figures\n")
	for _, f := range r.figures {
		fmt.Fprintf(&b, "\n![%s](plots/%s.svg)\n\n%s. %s\n", f.Title, f.Name, f.Title, f.Caption)
	}
	return b.Bytes(), err
}
