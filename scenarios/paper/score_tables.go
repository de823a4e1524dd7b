package paper

import (
	"fmt"
	"math"
	"slices"

	"sirdbed/capture/report"
)

// scoreTables counts the rows of each table.
func (c *Comparison) scoreTables() map[string]TableScores {
	list := map[string]TableScores{}
	for _, r := range c.Rows {
		p := r.Print
		if r.Verdict == NotPrinted || p.Unstable || p.Suspect != "" {
			continue
		}
		s, run := list[p.Cell.Table], r.Here != nil
		s.Within5.add(run, r.isWithin(0.05))
		s.Within15.add(run, r.isWithin(0.15))
		s.Within25.add(run, r.isWithin(0.25))
		s.By25.add(run, math.Abs(guess(p.Cell)-p.Number) <= 0.25*p.Number)
		list[p.Cell.Table] = s
	}
	for _, o := range c.Orders() {
		if !o.Suspect {
			s := list[o.Better.Table]
			s.Orders.add(o.Run, o.Right)
			list[o.Better.Table] = s
		}
	}
	return list
}

// guess is the median of what the paper printed for the other protocols where a cell is: NaN where it
// has no number of any.
func guess(cell Cell) float64 {
	var others []float64
	for _, p := range prints() {
		at := p.Cell
		if at.Protocol != cell.Protocol && !p.Unstable && p.Suspect == "" {
			if at.Protocol = cell.Protocol; at == cell {
				others = append(others, p.Number)
			}
		}
	}
	if len(others) == 0 {
		return math.NaN()
	}
	slices.Sort(others)
	return report.Median(others)
}

// ByTable returns the scores of each table that has a number.
func (s Scores) ByTable() Table {
	t := Table{
		Title: "Scores of each table", Left: 1,
		Header: []string{"table", "within 5 %", "within 15 %", "within 25 %", "guess within 25 %", "orders"},
		Note: "Suspect prints and those unstable in print do not count. Guess: how many would be within 25 % if " +
			"each number were the median of the other protocols' prints for the same configuration and workload. " +
			"Where the guess does as well, being within 25 % tells nothing.",
	}
	for _, table := range append(slices.Clone(PrintedTables), MaxCompleted) {
		x := s.Tables[table]
		if table == MaxCompleted {
			x = s.Completed
		}
		if x.Within5.Run == 0 {
			continue
		}
		row := []string{titles[table]}
		for _, score := range []Score{x.Within5, x.Within15, x.Within25, x.By25, x.Orders} {
			row = append(row, fmt.Sprintf("%d of %d", score.Right, score.Run))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
