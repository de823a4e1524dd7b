package paper

import "fmt"

// A Verdict is how a cell compares with the print.
type Verdict string

// The verdicts.
const (
	Agrees          Verdict = "agrees"            // within the tolerance of what may have been rounded to the print
	Differs         Verdict = "differs"           // by more
	BothUnstable    Verdict = "both unstable"     //
	UnstableInPrint Verdict = "unstable in print" // and a number here
	UnstableHere    Verdict = "unstable here"     // and a number in print
	NotRun          Verdict = "not run"           // nothing was measured
	SuspectPrint    Verdict = "suspect print"     // whatever was measured
	NotPrinted      Verdict = "not printed"       // the paper has no such number
)

// A Row is a cell beside its print.
type Row struct {
	Print     Print   `json:"print"` // only its cell, where the paper has no number
	Here      *Value  `json:"here,omitempty"`
	Verdict   Verdict `json:"verdict"`
	Tolerance float64 `json:"tolerance,omitempty"` // as a share of the print
	// Within reports whether the number here is within the tolerance, also of a suspect print.
	Within bool `json:"within"`
	// Difference is here less print, in the table's unit, and Ratio is here over print. Both are 0 unless both are
	// numbers.
	Difference float64 `json:"difference,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`
}

// A Comparison is all cells beside the prints: the 162 of the paper first, then
// those that it does not have, both in the order of tables.
type Comparison struct {
	Rows   []Row
	Scores Scores
}

// toleranceOf is how far a number may be from the print and still agree, as a share
// of the print: 0.15 for SIRD and 0.25 for the others, whose parameters the paper does not
// all give.
func toleranceOf(protocol string) float64 {
	if protocol == "sird" {
		return 0.15
	}
	return 0.25
}

// Compare compares what was measured with the print, cell by cell. dcPIM's p99 has
// to be by its own definition, as the paper's is (README, Cells). The error is
// that of Check.
func Compare(m *Measured) (*Comparison, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("cannot compare with the paper: %w", err)
	}
	c := &Comparison{}
	for _, p := range prints() {
		row := Row{Print: p}
		if v, ok := m.Cells[p.Cell]; ok {
			row.Here = &v
		}
		c.Rows = append(c.Rows, row.judged())
	}
	for _, cell := range m.cells() {
		if _, ok := printOf(cell); !ok {
			v := m.Cells[cell]
			c.Rows = append(c.Rows, Row{Print: Print{Cell: cell}, Here: &v, Verdict: NotPrinted})
		}
	}
	c.Scores = c.score()
	return c, nil
}

// completed are the cells of MaxCompleted beside the prints of MaxGoodput. Orders are judged as of
// goodputs.
func (c *Comparison) completed() (list []Row) {
	here := map[Cell]*Value{}
	for _, r := range c.Rows {
		if r.Print.Cell.Table == MaxCompleted {
			here[r.Print.Cell] = r.Here
		}
	}
	for _, p := range prints() {
		if p.Cell.Table == MaxGoodput {
			p.Cell.Table = MaxCompleted
			list = append(list, Row{Print: p, Here: here[p.Cell]}.judged())
			delete(here, p.Cell)
		}
	}
	for _, r := range c.Rows { // of protocols that the paper does not have
		if here[r.Print.Cell] != nil {
			list = append(list, r)
		}
	}
	return list
}

// judged returns the row with its verdict and what that is of.
func (r Row) judged() Row {
	p := r.Print
	r.Tolerance = toleranceOf(p.Cell.Protocol)
	switch {
	case r.Here == nil:
		r.Verdict = NotRun
	case p.Unstable && r.Here.Unstable:
		r.Verdict = BothUnstable
	case p.Unstable:
		r.Verdict = UnstableInPrint
	case r.Here.Unstable:
		r.Verdict = UnstableHere
	default:
		r.Difference, r.Ratio = r.Here.Number-p.Number, r.Here.Number/p.Number
		r.Within = r.isWithin(r.Tolerance)
		r.Verdict = Differs
		if r.Within {
			r.Verdict = Agrees
		}
	}
	if p.Suspect != "" && r.Verdict != NotRun {
		r.Verdict = SuspectPrint
	}
	return r
}

// isNumber reports whether print and here are numbers, so that there are a difference and a ratio.
func (r Row) isNumber() bool { return !r.Print.Unstable && r.Here != nil && !r.Here.Unstable }

// isWithin reports whether print and here are numbers, and the one here is within a
// tolerance of what the print may have been before it was rounded.
func (r Row) isWithin(tolerance float64) bool {
	p := r.Print
	return r.isNumber() && p.Low*(1-tolerance) <= r.Here.Number && r.Here.Number <= p.High*(1+tolerance)
}
