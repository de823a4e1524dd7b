package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dots marks the points of a curve.
type dots struct {
	points  []Point
	color   color.Color
	labeled bool // with their notes
}

// Plot implements plot.Plotter.
func (d *dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range d.points {
		least, most := d.points[i].span()
		spread(c, p, x(d.points[i].X), least, most, d.color)
	}
	for _, pt := range d.points {
		at := vg.Point{X: x(pt.X), Y: y(pt.Y)}
		if !c.Contains(at) {
			continue // beyond what the axes show
		}
		c.DrawGlyph(draw.GlyphStyle{Color: d.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, at)
		if pt.Hollow {
			c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}, at)
		}
	}
	if d.labeled {
		d.labels(c, p)
	}
}

// labels writes notes above their dots, to the left, where curves that rise leave room.
// The last have their room first: what would cover another is left out.
func (d *dots) labels(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Color, style.XAlign, style.YAlign = d.color, draw.XRight, draw.YBottom
	var taken []vg.Rectangle
	for _, pt := range slices.Backward(d.points) {
		at := vg.Point{X: x(pt.X) - 2, Y: y(pt.Y) + 2}
		box := style.Rectangle(pt.Note).Add(at)
		if slices.ContainsFunc(taken, func(other vg.Rectangle) bool {
			return box.Min.X < other.Max.X && other.Min.X < box.Max.X &&
				box.Min.Y < other.Max.Y && other.Min.Y < box.Max.Y
		}) {
			continue
		}
		taken = append(taken, box)
		c.FillText(style, at, pt.Note)
	}
}

// spread draws the range of a point, if it has one, as far as it is in sight.
func spread(c draw.Canvas, p *plot.Plot, x vg.Length, least, most float64, of color.Color) {
	if !(most > least) {
		return
	}
	_, y := p.Transforms(&c)
	low, high := max(least, p.Y.Min), min(most, p.Y.Max)
	style := draw.LineStyle{Color: of, Width: vg.Points(0.9)}
	c.StrokeLine2(style, x, y(low), x, y(high))
	const half = 2.5
	for _, end := range []float64{low, high} {
		c.StrokeLine2(style, x-half, y(end), x+half, y(end))
	}
}
