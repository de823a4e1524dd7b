package report

import "math"

// onLog returns the figure as logarithmic axes can show it: without points at 0 or below,
// which they have no place for, and from the least of the others on, unless it is said from
// where.
func (f *Figure) onLog() *Figure {
	if !f.X.Log && !f.Y.Log {
		return f
	}
	g := *f
	g.Series = make([]Series, len(f.Series))
	least := [2]float64{math.Inf(1), math.Inf(1)}
	most := [2]float64{}
	for i, s := range f.Series {
		g.Series[i] = s
		g.Series[i].Points = nil
		for _, p := range s.Points {
			if f.X.Log && !(p.X > 0) || f.Y.Log && !(p.Y > 0) {
				continue
			}
			g.Series[i].Points = append(g.Series[i].Points, p)
			least = [2]float64{min(least[0], p.X), min(least[1], p.Y)}
			most = [2]float64{max(most[0], p.X), max(most[1], p.Y, p.High, p.Spread[1])}
			if f.Y.Log && p.Spread[0] > 0 {
				least[1] = min(least[1], p.Spread[0])
			}
		}
	}
	g.X, g.Y = g.X.onLog(least[0], most[0]), g.Y.onLog(least[1], most[1])
	return &g
}

// onLog gives a logarithmic axis a span that it can have.
func (a Axis) onLog(least, most float64) Axis {
	if !a.Log || a.Min > 0 && a.Max > a.Min {
		return a
	}
	if math.IsInf(least, 1) { // nothing to show
		least, most = 1, 10
	}
	a.Min, a.Max = least/1.25, max(most, least)*1.6
	return a
}
