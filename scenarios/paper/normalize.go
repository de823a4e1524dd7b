package paper

import (
	"math"
	"slices"

	"sirdbed/capture/report"
)

// A Normalized is a table in which the best protocol of each configuration and
// workload has 1, as in the paper's figure 5: goodputs are 1 or less, slowdowns and queues 1
// or more. Unstable values are left out of it, and of its means.
type Normalized struct {
	Table string
	Rows  []NormalizedRow // the paper's protocols in its order, then others by name
}

// A NormalizedRow is one protocol's.
type NormalizedRow struct {
	Protocol string
	Cells    [columns]NormalizedCell // by configuration, then workload
	Mean     Mean
	RawMean  Mean // of the table before it was normalized, in its unit
}

// A NormalizedCell is one number, if there is one.
type NormalizedCell struct {
	Run      bool
	Unstable bool
	Number   float64
	raw      float64
}

// hasNumber reports whether the cell was run and is stable.
func (c NormalizedCell) hasNumber() bool { return c.Run && !c.Unstable }

// A Mean is that of a row's numbers; Range is the largest less the smallest. All
// are 0 of a row without a number.
type Mean struct {
	Mean  float64
	Range float64
	Of    int // numbers
}

// leastQueueMB is the smallest queue that there is, one frame: what is divided by where the best
// protocol has none.
const leastQueueMB = report.LeastDepth / 1000

// Normalize returns the normalized table of what was measured. A column in which a
// protocol was not run is normalized by the best of the others, and one in which no protocol
// has a number of more than 0 has none.
func Normalize(m *Measured, table string) *Normalized {
	n := &Normalized{Table: table}
	for _, p := range m.protocols(table) {
		row := NormalizedRow{Protocol: p}
		eachColumn(func(i int, config, workload string) {
			if v, ok := m.Cells[Cell{table, config, workload, p}]; ok {
				row.Cells[i] = NormalizedCell{Run: true, Unstable: v.Unstable, raw: v.Number}
			}
		})
		n.Rows = append(n.Rows, row)
	}
	for i := range columns {
		best := n.best(i)
		for j := range n.Rows {
			c := &n.Rows[j].Cells[i]
			if !c.hasNumber() {
				continue
			}
			if best == 0 {
				c.Run = false
				continue
			}
			c.Number = floor(table, c.raw) / best
		}
	}
	for j := range n.Rows {
		r := &n.Rows[j]
		r.Mean = r.mean(func(c NormalizedCell) float64 { return c.Number })
		r.RawMean = r.mean(func(c NormalizedCell) float64 { return c.raw })
	}
	return n
}

// best is the best number of a column, 0 if it has none.
func (n *Normalized) best(i int) (best float64) {
	found := false
	for _, r := range n.Rows {
		if c := r.Cells[i]; c.hasNumber() {
			x := floor(n.Table, c.raw)
			if !found || better(n.Table, Value{Number: x}, Value{Number: best}) {
				best, found = x, true
			}
		}
	}
	return best
}

// floor is a number, or of a queue the smallest that there is.
func floor(table string, x float64) float64 {
	if table == MaxTorQueue || table == MeanTorQueue {
		return max(x, leastQueueMB)
	}
	return x
}

// mean is that of the numbers of the cells that have one.
func (r *NormalizedRow) mean(of func(NormalizedCell) float64) (m Mean) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range r.Cells {
		if c.hasNumber() {
			x := of(c)
			m.Mean += x
			m.Of++
			least, most = min(least, x), max(most, x)
		}
	}
	if m.Of > 0 {
		m.Mean /= float64(m.Of)
		m.Range = most - least
	}
	return m
}

// row returns a protocol's, nil if it has none.
func (n *Normalized) row(protocol string) *NormalizedRow {
	i := slices.IndexFunc(n.Rows, func(r NormalizedRow) bool { return r.Protocol == protocol })
	if i < 0 {
		return nil
	}
	return &n.Rows[i]
}

// At returns a protocol's number in a configuration and workload, if it has one.
func (n *Normalized) At(config, workload, protocol string) (number float64, known bool) {
	r := n.row(protocol)
	if r == nil {
		return 0, false
	}
	c := r.Cells[column(config, workload)]
	return c.Number, c.hasNumber()
}

// Ratios are four ways to say how many times more one protocol has of something
// than another, over all configurations and workloads. The paper's are of the first kind, but
// for one of the third; claims are checked by the last.
type Ratios struct {
	Normalized float64 // of means of the normalized table
	Raw        float64 // of means of the table
	Common     float64 // of means of the table, over the cells in which both have a number
	Both       float64 // of means of the normalized table, over the same cells
}

// RatiosOf returns one protocol's means over another's. They are known if both have
// a number in common at least, and the other's means are more than 0.
func (n *Normalized) RatiosOf(protocol, over string) (ratios Ratios, known bool) {
	a, b := n.row(protocol), n.row(over)
	if a == nil || b == nil {
		return Ratios{}, false
	}
	var x, y, xn, yn float64
	for i := range columns {
		if a.Cells[i].hasNumber() && b.Cells[i].hasNumber() {
			x, y = x+a.Cells[i].raw, y+b.Cells[i].raw
			xn, yn = xn+a.Cells[i].Number, yn+b.Cells[i].Number
		}
	}
	if y == 0 || b.Mean.Mean == 0 {
		return Ratios{}, false
	}
	return Ratios{
		Normalized: a.Mean.Mean / b.Mean.Mean, Raw: a.RawMean.Mean / b.RawMean.Mean, Common: x / y, Both: xn / yn,
	}, true
}
