package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// SVG draws the figure as a picture of 4.6 inches, two of which fit side by side on a page.
func (f *Figure) SVG() ([]byte, error) {
	f = f.onLog()
	c := newChart(f.Title, f.X.Label, f.Y.Label)
	grid := gridLines()
	if len(f.Groups) > 0 {
		grid.Vertical.Width = 0
	}
	c.Add(grid)
	if f.Time != nil {
		c.Add(faultRows(f.Time.Faults), (*window)(f.Time))
	}
	f.axes(c)
	for i := range f.Series {
		if err := f.draw(c, &f.Series[i]); err != nil {
			return nil, fmt.Errorf("plot %q: %w", f.Title, err)
		}
	}
	if b := f.bars(); len(b.list) > 0 {
		c.Add(b)
		for _, bar := range b.list {
			c.Y.Min, c.Y.Max = min(c.Y.Min, bar.p50), max(c.Y.Max, bar.p99, bar.most)
		}
	}
	c.Add(guides(f.Guides))
	f.span(c)
	return c.svg(width, height)
}

// axes sets scales, ticks and spans, as far as these are given.
func (f *Figure) axes(c *chart) {
	if f.X.Log {
		c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if f.Y.Log {
		c.Y.Scale, c.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if len(f.Groups) > 0 {
		at := make(plot.ConstantTicks, len(f.Groups))
		for g, label := range f.Groups {
			at[g] = plot.Tick{Value: float64(g), Label: label}
		}
		c.X.Tick.Marker = at
		c.X.Tick.LineStyle.Color = color.White // no ticks, and the room for them
	}
	if f.Time != nil {
		c.X.Min, c.X.Max = 0, f.Time.End
	}
}

// span sets what the axes show when the series are known.
func (f *Figure) span(c *chart) {
	if f.X.Max > f.X.Min {
		c.X.Min, c.X.Max = f.X.Min, f.X.Max
	}
	if len(f.Groups) > 0 {
		c.X.Min, c.X.Max = -0.5, float64(len(f.Groups))-0.5
	}
	marked := slices.ContainsFunc(f.Series, func(s Series) bool { return s.Shape == Marks })
	if (marked || f.Labeled) && !f.X.Log {
		room := 0.05 * (c.X.Max - c.X.Min) // for marks and labels at the edges
		c.X.Min, c.X.Max = c.X.Min-room, c.X.Max+room
	}
	switch {
	case f.Y.Max > f.Y.Min:
		c.Y.Min, c.Y.Max = f.Y.Min, f.Y.Max
	case !f.Y.Log: // with room above the lines
		c.Y.Min = min(0, c.Y.Min)
		c.Y.Max += (c.Y.Max - c.Y.Min) * 0.08
		if c.Y.Max <= c.Y.Min {
			c.Y.Max = c.Y.Min + 1
		}
	}
}

// draw adds a series and its legend.
func (f *Figure) draw(c *chart, s *Series) error {
	style := line(s.Look)
	if s.Width > 0 {
		style.Width = vg.Points(s.Width)
	}
	if len(s.Points) == 0 {
		return nil
	}
	if s.Shape == Bars {
		c.legendOfBar(s.Name, s.Look)
		return nil
	}
	if !s.Faint {
		c.legend(s.Name, style)
	} else {
		style.Color = faint(colorOf(s.Look))
	}
	var points plotter.XYs
	for _, p := range s.Points {
		if finite(p.X) && finite(p.Y) {
			points = append(points, plotter.XY{X: p.X, Y: p.Y})
		}
	}
	if s.Shape == Marks {
		marks, err := plotter.NewScatter(points)
		if err == nil {
			marks.GlyphStyle = draw.GlyphStyle{Color: colorOf(s.Look), Radius: vg.Points(3), Shape: cross{}}
			c.Add(marks)
		}
		return err
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.LineStyle = style
	if s.Shape == Steps {
		l.StepStyle = plotter.PostStep
	}
	c.Add(l)
	if s.Shape == Curve {
		c.Add(&dots{s.Points, colorOf(s.Look), f.Labeled})
		for i := range s.Points {
			if least, most := s.Points[i].span(); finite(most) && (least > 0 || !f.Y.Log) {
				c.Y.Min, c.Y.Max = min(c.Y.Min, least), max(c.Y.Max, most)
			}
		}
	}
	return nil
}

// cross is what marks look like.
type cross struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (cross) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	style := draw.LineStyle{Color: s.Color, Width: vg.Points(1.2)}
	r := s.Radius * 0.8
	c.StrokeLine2(style, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(style, at.X-r, at.Y+r, at.X+r, at.Y-r)
}

// bars are the figure's, those of each group side by side in the order of series.
func (f *Figure) bars() *bars {
	b := &bars{}
	for _, s := range f.Series {
		if s.Shape != Bars {
			continue
		}
		for _, p := range s.Points {
			least, most := p.span()
			b.list = append(b.list, bar{int(p.X), b.each, s.Look, p.Y, max(p.Y, p.High), p.Hollow, least, most})
		}
		b.each++
	}
	slices.SortStableFunc(b.list, func(x, y bar) int { return x.group - y.group })
	return b
}

func gridLines() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	g.Vertical.Width, g.Horizontal.Width = vg.Points(0.5), vg.Points(0.5)
	return g
}

// guides are dotted lines with labels at their right or upper end.
type guides []Guide

// Plot implements plot.Plotter.
func (list guides) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	dotted := draw.LineStyle{Color: ink, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(1.5), vg.Points(2)}}
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XRight, draw.YBottom
	row := 0 // labels of vertical lines stand below each other
	for _, g := range list {
		from, to := vg.Point{X: c.Min.X, Y: y(g.Y)}, vg.Point{X: c.Max.X, Y: y(g.Y)}
		at := vg.Point{X: to.X - 2, Y: to.Y + 1}
		if g.X != 0 {
			from, to = vg.Point{X: x(g.X), Y: c.Min.Y}, vg.Point{X: x(g.X), Y: c.Max.Y}
			row++
			at = vg.Point{X: to.X - 2, Y: to.Y - 10*vg.Length(row)}
		}
		if c.Contains(from) && c.Contains(to) {
			c.StrokeLine2(dotted, from.X, from.Y, to.X, to.Y)
			c.FillText(style, at, g.Label)
		}
	}
}

// window shades what lies outside the measured window, and marks stages by
// their number above, as the paper's outcast figure does.
type window Time

// Plot implements plot.Plotter.
func (w *window) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	shade := func(from, to float64) {
		if to > from {
			c.FillPolygon(color.RGBA{0xf3, 0xf3, 0xf3, 0xff}, []vg.Point{
				{X: x(from), Y: c.Min.Y}, {X: x(to), Y: c.Min.Y}, {X: x(to), Y: c.Max.Y}, {X: x(from), Y: c.Max.Y},
			})
		}
	}
	shade(0, w.From)
	shade(w.To, w.End)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	for i, at := range w.Stages {
		if at < 0 || at >= w.End {
			continue
		}
		dashed := draw.LineStyle{Color: ink, Width: vg.Points(0.6), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}}
		c.StrokeLine2(dashed, x(at), c.Min.Y, x(at), c.Max.Y)
		c.FillText(style, vg.Point{X: x(at), Y: c.Max.Y + 1}, fmt.Sprint(i+1))
	}
}

// faultRows are a figure's faults along its lower edge.
type faultRows []FaultRow

// faultBar is how high a bar is, with the gap to the next row.
const faultBar = 4

// Plot implements plot.Plotter.
func (rows faultRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for i, row := range rows {
		y := c.Min.Y + vg.Points(faultBar*(float64(i)+0.5))
		style := draw.LineStyle{Color: colorOf(row.Look), Width: vg.Points(faultBar - 1)}
		for _, span := range row.Spans {
			from, to := max(x(span[0]), c.Min.X), min(x(span[1]), c.Max.X)
			c.StrokeLine2(style, from, y, max(to, from+vg.Points(1)), y) // a moment is seen too
		}
	}
}
