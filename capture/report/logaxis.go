package report

import "math"

// positive returns the figure without what logarithmic axes have no place for: points at 0 or
// below.
func (f *Figure) positive() *Figure {
	if !f.X.Log && !f.Y.Log {
		return f
	}
	g := *f
	g.Series = make([]Series, len(f.Series))
	for i, s := range f.Series {
		g.Series[i] = s
		g.Series[i].Points = nil
		for _, p := range s.Points {
			if f.X.Log && !(p.X > 0) || f.Y.Log && !(p.Y > 0) {
				continue
			}
			g.Series[i].Points = append(g.Series[i].Points, p)
		}
	}
	return &g
}

// onLog returns a positive figure of which logarithmic axes have a span: from the least to the most
// of the series, unless it is said from where or to where.
func (f *Figure) onLog() *Figure {
	g := *f.positive()
	least := [2]float64{math.Inf(1), math.Inf(1)}
	most := [2]float64{}
	for _, s := range g.Series {
		for _, p := range s.Points {
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
	if a.Min <= 0 {
		a.Min = least / 1.25
	}
	if a.Max <= a.Min {
		a.Max = max(most, a.Min) * 1.6
	}
	return a
}
