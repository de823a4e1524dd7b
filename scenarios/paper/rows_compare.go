package paper

import (
	"fmt"
	"slices"
	"strings"
)

// Grids returns the tables as the paper has them, with print, here and ratio below
// each other, and for MeanTorQueue what was measured. Those in which nothing was run are left
// out.
func (c *Comparison) Grids() (list []Table) {
	for _, table := range slices.Concat(PrintedTables, otherTables) {
		if t := c.grid(table); len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// grid is one of them.
func (c *Comparison) grid(table string) Table {
	t := Table{Title: titles[table], Left: 2}
	t.Header, t.Wide = tableHeader("protocol", "")
	t.Note = "a, b, c: WKa, WKb, WKc. *: further from the print than the tolerance, or unstable on one side only. " +
		"?: the print is suspect."
	rows := c.Rows
	switch table {
	case MaxCompleted:
		rows = c.completed()
		t.Note += " Sizes of the messages completed in the window, as the released simulator counts them. Above is " +
			"what the paper says: payload received. In windows as short as ours less is completed than received, and " +
			"the gap grows with the number of messages that a protocol has under way."
	case P99Slowdown:
		t.Note += " unst: it does not carry half the load."
	case MaxTorQueue:
		t.Note += " unst: at some load the leaves' mean queue grew by a fifth in each of the last two quarters of " +
			"the run, to 1 MB or more, or the run was ended because a leaf's queue kept growing."
	case MeanTorQueue:
		t.Note = "The paper prints no numbers for it."
	}
	byProtocol := map[string][]Row{}
	var order []string
	for _, r := range rows {
		if p := r.Print.Cell.Protocol; r.Print.Cell.Table == table {
			if byProtocol[p] == nil {
				order = append(order, p)
			}
			byProtocol[p] = append(byProtocol[p], r)
		}
	}
	for _, protocol := range order {
		paper, here, ratio := grid(protocol, "paper"), grid("", "here"), grid("", "ratio")
		run, printed := false, false
		for _, r := range byProtocol[protocol] {
			i := 2 + column(r.Print.Cell.Config, r.Print.Cell.Workload)
			here[i] = r.Here.Text() + r.Verdict.mark()
			run = run || r.Here != nil
			if r.Verdict == NotPrinted {
				continue
			}
			printed = true
			paper[i] = r.Print.Text()
			if r.isNumber() {
				ratio[i] = fmt.Sprintf("%.2f", r.Ratio)
			}
		}
		switch {
		case !run:
		case printed:
			t.Rows = append(t.Rows, paper, here, ratio)
		default:
			here[0] = protocol
			t.Rows = append(t.Rows, here)
		}
	}
	return t
}

// grid is an empty row of a grid.
func grid(first, second string) []string {
	row := []string{first, second}
	for range columns {
		row = append(row, "-")
	}
	return row
}

// Cells returns a table for each of the paper's, with a row for each cell that was
// run, or only for those that neither agree nor are unstable in both, if outside is set.
// Tables without a row are left out.
func (c *Comparison) Cells(outside bool) (list []Table) {
	for _, table := range PrintedTables {
		t := Table{
			Title: titles[table] + ": cells", Left: 3,
			Header: []string{"config", "workload", "protocol", "paper", "here", "diff", "ratio", "within", "spread",
				"seeds", "verdict"},
			Note: "diff: here minus paper. within: the tolerance. " +
				"spread: largest minus smallest of the seeds, over the number here.",
		}
		for _, r := range c.Rows {
			agrees := r.Verdict == Agrees || r.Verdict == BothUnstable
			if r.Print.Cell.Table != table || r.Verdict == NotPrinted || r.Verdict == NotRun || outside && agrees {
				continue
			}
			t.Rows = append(t.Rows, r.cells())
			for _, reason := range r.reasons() {
				t.Note += " " + strings.Join(t.Rows[len(t.Rows)-1][:3], " ") + ": " + reason + "."
			}
		}
		if len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// cells is a row as Cells has it.
func (r Row) cells() []string {
	cell := r.Print.Cell
	row := []string{cell.Config, cell.Workload, cell.Protocol, r.Print.Text(), r.Here.Text(), "-", "-",
		percent(r.Tolerance).String(), "-", "-", string(r.Verdict)}
	if r.isNumber() {
		row[5], row[6] = signed(r.Difference), fmt.Sprintf("%.2f", r.Ratio)
	}
	if spread, known := r.Here.Spread(); known {
		row[8] = fmt.Sprintf("%.1f %%", 100*spread)
	}
	if n := len(r.Here.Seeds); n > 0 {
		row[9] = fmt.Sprint(n)
	}
	return row
}

// reasons are why a print is doubted, and why the cell is unstable here.
func (r Row) reasons() (list []string) {
	if r.Print.Suspect != "" {
		list = append(list, "the print is "+r.Print.Suspect)
	}
	if r.Here.Unstable && r.Here.Why != "" {
		list = append(list, r.Here.Why)
	}
	return list
}

// signed prints a difference with its sign.
func signed(x float64) string {
	if x > 0 {
		return "+" + fixed(x)
	}
	if x < 0 {
		return "-" + fixed(-x)
	}
	return "0"
}

// WrongOrders returns the pairs of protocols that are not in the order of the print,
// or whose order is open since both are the same here.
func (c *Comparison) WrongOrders() Table {
	t := Table{
		Title: "Orders that differ from the print", Left: 4,
		Header: []string{"table", "config", "workload", "better", "paper", "here", "worse", "paper", "here"},
		Note:   "better, worse: by the print. ?: the print is suspect, and the pair is not in the score of orders.",
	}
	here := map[Cell]*Value{}
	for _, r := range c.Rows {
		here[r.Print.Cell] = r.Here
	}
	for _, o := range c.Orders() {
		if !o.Run || o.Right {
			continue
		}
		row := []string{o.Better.Table, o.Better.Config, o.Better.Workload}
		for _, cell := range []Cell{o.Better, o.Worse} {
			p, _ := printOf(cell)
			row = append(row, cell.Protocol, p.Text()+p.mark(), here[cell].Text())
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		t.Note = "None of those that have run."
	}
	return t
}

// Table returns the scores as rows.
func (s Scores) Table() Table {
	t := Table{
		Title: "Scores", Left: 1, Header: []string{"of what the paper printed", "right", "run", "share", "not run"},
		Note: fmt.Sprintf("Suspect prints, copies of another cell, count only in the last three rows. %d printed "+
			"numbers are unstable here.", s.UnstableHere),
	}
	for _, line := range []struct {
		name  string
		score Score
	}{
		{"SIRD's numbers within 15 %", s.SIRD},
		{"the others' numbers within 25 %", s.Others},
		{"all numbers within 15 %", s.Within15},
		{"all numbers within 25 %", s.Within25},
		{"orders of two protocols", s.Orders},
		{`"unstable" in print, and here`, s.Unstable},
		{"suspect prints within 15 %", s.Suspect15},
		{"suspect prints within 25 %", s.Suspect25},
		{"orders with a suspect print", s.SuspectOrders},
	} {
		share := "-"
		if line.score.Run > 0 {
			share = fmt.Sprintf("%.1f %%", 100*line.score.Share())
		}
		t.Rows = append(t.Rows, []string{line.name, fmt.Sprint(line.score.Right), fmt.Sprint(line.score.Run), share,
			fmt.Sprint(line.score.NotRun)})
	}
	return t
}
