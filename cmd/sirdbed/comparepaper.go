package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// A printComparison is a result beside what the paper printed.
type printComparison struct {
	path     string
	cells    *paper.Comparison
	findings []paper.Finding
	measured *paper.Measured
	notes    []string // what a reader has to know
	points   int
	missing  int    // points of a reproduction
	scale    string // of a reproduction
	engine   string // of a reproduction
}

// withPrint compares a result with what the paper printed.
func (o *compareOptions) withPrint(c *compared, stdout, stderr io.Writer) error {
	p, err := c.againstPrint()
	if err != nil {
		return badInput(err)
	}
	if err := o.files.write(p); err != nil {
		return err
	}
	if o.json {
		err = printJSON(stdout, p.json())
	} else {
		err = p.print(stdout)
	}
	if err != nil {
		return err
	}
	code := exitFine
	if outside, run := p.count(); outside > 0 {
		fmt.Fprintf(stderr, "%d of %s are outside their tolerance\n", outside, count(run, "cell"))
		code = exitUnmet
	}
	return coded(invalidOf([]*compared{c}, code, stderr))
}

// againstPrint evaluates a result. It fails if it has nothing that the paper printed.
func (c *compared) againstPrint() (p *printComparison, err error) {
	p = &printComparison{path: c.path}
	switch {
	case c.paper != nil:
		p.ofReproduction(c.paper)
	case c.sweep != nil:
		if err := p.ofPoints(c.sweep.placed()); err != nil {
			return nil, err
		}
	default:
		list, err := c.placed()
		if err != nil {
			return nil, err
		}
		if err := p.ofPoints(list); err != nil {
			return nil, err
		}
		p.notes = append(p.notes, "Whether queues grow without end is not known of a run: sirdbed sweep looks at that.")
	}
	if p.cells, err = paper.Compare(p.measured); err != nil {
		return nil, err
	}
	if c.paper != nil { // others have no more than cells
		if p.findings, err = paper.Evaluate(p.measured); err != nil {
			return nil, err
		}
	}
	if _, run := p.count(); run == 0 {
		return nil, fmt.Errorf("%s has nothing that the paper printed: want a result of one of its configurations "+
			"(scenarios paper/balanced, paper/core and paper/incast, or others with their delays and ratios of "+
			"rates), with wka, wkb or wkc at one of its loads and protocols' own parameters", report.Printable(c.path))
	}
	return p, nil
}

// ofReproduction takes the cells and quantities of a reproduction.
func (p *printComparison) ofReproduction(r *ComparedPaper) {
	p.measured = &paper.Measured{Cells: map[paper.Cell]paper.Value{}, Quantities: r.Measured}
	for _, row := range r.Cells {
		if row.Here != nil {
			p.measured.Cells[row.Print.Cell] = *row.Here
		}
	}
	p.points, p.missing, p.scale, p.engine, p.notes = r.Points, r.Missing, r.Scale, r.Engine, slices.Clone(r.Notes)
	if r.Missing > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%d of its points are missing.", r.Missing))
	}
}

// otherSize is said of results of another fabric than the paper's.
const otherSize = "The fabric is smaller than the paper's: orders compare, values less so."

// ofPoints takes points of a run or a sweep.
func (p *printComparison) ofPoints(list []reproduce.Placed) error {
	if err := onePerPlace(list); err != nil {
		return fmt.Errorf("%s: %w", report.Printable(p.path), err)
	}
	f, poisson := reproduce.FoundAt(list)
	p.measured, p.points = f.Measured(), len(f.Points)
	if f.PartialMaxima() {
		p.notes = append(p.notes, partialMaxima())
	}
	if poisson {
		p.notes = append(p.notes, "Arrivals are true Poisson's: the printed numbers were made with those of the "+
			"released simulator (arrivals: released).")
	}
	if slices.ContainsFunc(f.Points, func(x *points.Point) bool {
		t := x.Experiment.Topology
		return !reproduce.PaperSized(t.Leaves * t.HostsPerLeaf)
	}) {
		p.notes = append(p.notes, otherSize)
	}
	return nil
}

// onePerPlace returns an error if two points of the same seed are at one place: they differ in
// something that the paper's tables do not have.
func onePerPlace(list []reproduce.Placed) error {
	type spot struct {
		place reproduce.Place
		seed  uint64
	}
	names := map[spot]string{}
	for _, x := range list {
		at, name := spot{x.Place, x.Point.Experiment.Seed}, x.Point.Experiment.Variant
		if other, there := names[at]; there {
			return fmt.Errorf("%s and %s are the same point of the paper's tables, with the same seed: leave one out",
				report.Printable(other), report.Printable(name))
		}
		names[at] = name
	}
	return nil
}

// partialMaxima says which cells are left out.
func partialMaxima() string {
	return "Goodput and queues are left out where load " + reproduce.HighestLoad() +
		" was not run: printed are the highest of all loads."
}

// placed are the points of a sweep that belong into the paper's tables, as far as its rows
// have them.
func (o *SweepOutcome) placed() (list []reproduce.Placed) {
	for i := range o.Points {
		r := &o.Points[i]
		if r.Paper == nil || r.Verdict == string(results.Invalid) && !r.Unbounded {
			continue // with wrong figures, as the sweep's own page says
		}
		p := &points.Point{Grows: r.QueueGrows}
		if r.Unbounded {
			p.Unbounded = r.QueueGrows
		}
		p.Experiment.Protocol, p.Experiment.Seed = r.Protocol, uint64(r.Seed)
		p.Experiment.Variant, _, _ = o.place(r)
		p.Experiment.Topology.Leaves, p.Experiment.Topology.HostsPerLeaf = 1, int(r.Hosts)
		p.Result = results.VariantSummary{ // without what was offered: whether that was carried is judged
			Protocol: r.Protocol, GoodputGbps: r.GoodputGbps, Unstable: r.Unstable,
			Slowdown: map[string]results.Slowdowns{results.Paper: {}},
		}
		slow := p.Result.Slowdown[results.Paper][results.AllSizes]
		slow.Count, slow.P50, slow.P99, slow.Mean = int(r.Messages), r.SlowdownP50, r.SlowdownP99, r.SlowdownMean
		p.Result.Slowdown[results.Paper][results.AllSizes] = slow
		if r.AckedP99 > 0 {
			slow.P99 = r.AckedP99
			p.Result.Slowdown[results.Acked] = results.Slowdowns{results.AllSizes: slow}
		}
		p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: r.LeafMax, Mean: r.LeafMean}}
		list = append(list, reproduce.Placed{Place: *r.Paper, Point: p})
	}
	return list
}

// placed are the variants of a run that belong into the paper's tables.
func (c *compared) placed() (list []reproduce.Placed, err error) {
	dir, err := tree.Open(c.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var m results.Manifest
	if err := results.ReadJSON(dir, results.ManifestFile, &m); err != nil {
		return nil, err
	}
	for i := range m.Variants {
		x := m.Variants[i].Experiment
		place, ok := reproduce.PlaceOf(&x)
		k := slices.IndexFunc(c.summary.Variants, func(v results.VariantSummary) bool { return v.Variant == x.Variant })
		if !ok || k < 0 {
			continue
		}
		p := &points.Point{Experiment: x, Result: c.summary.Variants[k]}
		list = append(list, reproduce.Placed{Place: place, Point: p})
	}
	return list, nil
}

// count counts the cells that have a print and were run, and those outside their tolerance,
// suspect prints aside.
func (p *printComparison) count() (outside, run int) {
	for i := range p.cells.Rows {
		r := &p.cells.Rows[i]
		switch {
		case r.Here == nil || r.Verdict == paper.NotPrinted:
			continue
		case r.IsOutside():
			outside++
		}
		run++
	}
	return outside, run
}

// tables are the comparison's: cells, orders that are not the print's, scores, and of a
// reproduction the claims that could be checked.
func (p *printComparison) tables() []report.Table {
	list := p.cells.Cells(false)
	if orders := p.cells.WrongOrders(); len(orders.Rows) > 0 {
		list = append(list, orders)
	}
	list = append(list, scoreTables(p.cells.Scores)...)
	if p.findings != nil {
		list = append(list, paper.ClaimsTable(p.findings))
	}
	return list
}

// print writes the comparison for a terminal.
func (p *printComparison) print(w io.Writer) error {
	for _, note := range p.notes {
		if _, err := fmt.Fprintln(w, report.Printable(note)); err != nil {
			return err
		}
	}
	return report.PrintTables(w, p.tables())
}

// json is the comparison for programs: as that of a reproduction.
func (p *printComparison) json() *ComparedPaper {
	return &ComparedPaper{
		Format: gridFormat, Scale: p.scale, Engine: p.engine, Points: p.points, Missing: p.missing, Notes: p.notes,
		Scores: p.cells.Scores, Cells: p.cells.Rows, Claims: p.findings, Measured: p.measured.Quantities,
	}
}

// Markdown writes the comparison as a page of Markdown.
func (p *printComparison) Markdown(w io.Writer) error {
	outside, run := p.count()
	_, err := fmt.Fprintf(w, "## %s beside the paper: %d of %s outside their tolerance\n\n%s\n",
		report.MarkdownText(p.path), outside, count(run, "cell"), report.MarkdownText(strings.Join(p.notes, " ")))
	return errors.Join(err, report.MarkdownTables(w, p.tables()))
}

// JUnit writes a test case for each cell that was run.
func (p *printComparison) JUnit(w io.Writer) error {
	var cases []report.Case
	for i := range p.cells.Rows {
		r := &p.cells.Rows[i]
		if r.Here == nil || r.Verdict == paper.NotPrinted {
			continue
		}
		c := report.Case{Name: r.Print.Cell.String(), Out: string(r.Verdict)}
		switch {
		case r.IsOutside():
			c.Failure = fmt.Sprintf("got %s, want %s within %.0f %%: %s", r.Here.Text(), r.Print.Text(),
				100*r.Tolerance, r.Verdict)
		case r.Verdict == paper.SuspectPrint:
			c.Skipped = "the print is doubted: " + r.Print.Suspect
		}
		cases = append(cases, c)
	}
	return report.WriteJUnit(w, "sirdbed compare", "paper", cases)
}
