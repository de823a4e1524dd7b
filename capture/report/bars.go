package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sirdbed/capture/results"
)

// slowdown draws median and p99 slowdown by size group, a bar for each
// variant, as the paper's figure does: the median solid, up to p99 faint.
func (d *drawing) slowdown() {
	var groups []string
	for _, v := range d.variants {
		for name := range v.Latencies.Slowdown[results.Paper] {
			if !slices.Contains(groups, name) {
				groups = append(groups, name)
			}
		}
	}
	if len(groups) == 0 {
		return
	}
	slices.Sort(groups) // A, B, ..., all
	b := &bars{variants: len(d.variants)}
	p := newChart("Slowdown by message size"+d.of(), "", "slowdown")
	var labels []string
	total := make([]int, len(groups))
	high := 1.0
	for g, name := range groups {
		for i, v := range d.variants {
			s := v.Latencies.Slowdown[results.Paper][name]
			total[g] += s.Count
			if s.Count == 0 {
				continue
			}
			b.list = append(b.list, bar{g, i, colorOf(d.look(i)), s.P50, s.P99, s.Few})
			high = max(high, s.P99)
		}
		var borders []int64
		for _, border := range d.variants[0].Borders {
			borders = append(borders, int64(border))
		}
		labels = append(labels, groupName(name, borders))
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	p.Y.Min, p.Y.Max = min(1, lowest(b.list)*0.9), high*1.6
	p.X.Min, p.X.Max = -0.5, float64(len(groups))-0.5
	horizontal := gridLines()
	horizontal.Vertical.Width = 0
	p.Add(horizontal, b)
	at := make(plot.ConstantTicks, len(labels))
	for g, label := range labels {
		at[g] = plot.Tick{Value: float64(g), Label: label}
	}
	p.X.Tick.Marker = at
	p.X.Tick.LineStyle.Color = color.White // no ticks, and the room for them
	for i, v := range d.variants {
		p.legend(d.label(v), draw.LineStyle{Color: colorOf(d.look(i)), Width: vg.Points(7)})
	}
	d.add("slowdown"+d.dash(), fmt.Sprintf("Slowdown by size group, the paper's definition: the median, and in "+
		"a lighter shade the p99; incast messages left out: %d messages of all variants. A bar with an open top has "+
		"fewer than 100 samples.", total[len(total)-1]), p)
}

func lowest(list []bar) float64 {
	low := 1.0
	for _, b := range list {
		low = min(low, b.p50)
	}
	return low
}

type bar struct {
	group, variant int
	color          color.RGBA
	p50, p99       float64
	few            bool
}

// bars is a plotter of grouped bars that works on logarithmic axes, which
// plotter.BarChart does not.
type bars struct {
	list     []bar
	variants int
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	each := 0.8 / float64(b.variants)
	for _, bar := range b.list {
		left := float64(bar.group) - 0.4 + each*float64(bar.variant)
		fill := func(low, high float64, col color.Color) {
			c.FillPolygon(col, c.ClipPolygonXY([]vg.Point{
				{X: x(left + each*0.06), Y: y(low)}, {X: x(left + each*0.94), Y: y(low)},
				{X: x(left + each*0.94), Y: y(high)}, {X: x(left + each*0.06), Y: y(high)},
			}))
		}
		solid := bar.color
		if !bar.few {
			fill(bar.p50, max(bar.p99, bar.p50), faint(solid))
		} else {
			edge := draw.LineStyle{Color: solid, Width: vg.Points(0.8)}
			for _, side := range []float64{left + each*0.06, left + each*0.94} {
				c.StrokeLine2(edge, x(side), y(bar.p50), x(side), y(max(bar.p99, bar.p50)))
			}
		}
		fill(p.Y.Min, bar.p50, solid)
	}
}

// DataRange implements plot.DataRanger; the caller sets the axes.
func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 0, 1, 1 }

// window shades what lies outside the measured window, and marks stages by
// their number above, as the paper's outcast figure does.
type window struct {
	from, to, end float64
	stages        []float64
}

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
	shade(0, w.from)
	shade(w.to, w.end)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	for i, at := range w.stages {
		if at < 0 || at >= w.end {
			continue
		}
		dashed := draw.LineStyle{Color: ink, Width: vg.Points(0.6), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}}
		c.StrokeLine2(dashed, x(at), c.Min.Y, x(at), c.Max.Y)
		c.FillText(style, vg.Point{X: x(at), Y: c.Max.Y + 1}, fmt.Sprint(i+1))
	}
}
