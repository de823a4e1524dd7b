package paper

import "sirdbed/capture/report"

// isApart reports whether two numbers of a table are far enough from each other for
// their order to count.
func isApart(table string, a, b float64) bool { return report.Apart(higherIsBetter(table), a, b) }

// An Order is a pair of protocols that the print tells apart in one configuration
// and workload: both are numbers, and far enough from each other.
type Order struct {
	Better  Cell // by the print
	Worse   Cell
	Run     bool // both were measured
	Right   bool // and they are in this order here: unstable is worse than any number
	Suspect bool // one of the two prints is
}

// Orders returns the pairs of the paper's protocols that the print tells apart.
func (c *Comparison) Orders() (list []Order) {
	for i, a := range c.Rows {
		for _, b := range c.Rows[i+1:] {
			p, q := a.Print, b.Print
			same := p.Cell.Table == q.Cell.Table && p.Cell.Config == q.Cell.Config && p.Cell.Workload == q.Cell.Workload
			if !same || a.Verdict == NotPrinted || b.Verdict == NotPrinted || p.Unstable || q.Unstable ||
				!isApart(p.Cell.Table, p.Number, q.Number) {
				continue
			}
			first, second := a, b
			if better(p.Cell.Table, Value{Number: q.Number}, Value{Number: p.Number}) {
				first, second = b, a
			}
			o := Order{
				Better: first.Print.Cell, Worse: second.Print.Cell,
				Run: a.Here != nil && b.Here != nil, Suspect: p.Suspect != "" || q.Suspect != "",
			}
			o.Right = o.Run && better(p.Cell.Table, *first.Here, *second.Here)
			list = append(list, o)
		}
	}
	return list
}
