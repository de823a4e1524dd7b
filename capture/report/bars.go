package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sirdbed/capture/results"
	"sirdbed/traffic"
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
			b.list = append(b.list, bar{g, i, d.look(i), s.P50, s.P99, s.Few})
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
		p.legendOfBar(d.label(v), d.look(i))
	}
	caption := fmt.Sprintf("Slowdown by size group, the paper's definition: the median, and in a lighter shade the "+
		"p99. %d messages of all variants", total[len(total)-1])
	if d.hasIncast() {
		caption += "; those of incast streams are left out"
	}
	if slices.ContainsFunc(b.list, func(b bar) bool { return b.few }) {
		caption += ". A hatched bar has fewer than 100 samples"
	}
	d.add("slowdown"+d.dash(), caption+".", p)
}

// hasIncast reports whether a variant has a stream that slowdowns leave out.
func (d *drawing) hasIncast() bool {
	return slices.ContainsFunc(d.variants, func(v *results.Variant) bool {
		return slices.ContainsFunc(v.Experiment.Streams, func(s traffic.Stream) bool {
			return s.Pattern == traffic.PatternIncast
		})
	})
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
	look           int
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
		box := func(low, high float64) vg.Rectangle {
			return vg.Rectangle{
				Min: vg.Point{X: x(left + each*0.06), Y: y(low)}, Max: vg.Point{X: x(left + each*0.94), Y: y(high)},
			}
		}
		median, tail := box(p.Y.Min, bar.p50), box(bar.p50, max(bar.p99, bar.p50))
		solid := colorOf(bar.look)
		fill(c, tail, faint(solid))
		if bar.few {
			hatch(c, tail, solid)
		}
		fill(c, median, solid)
		mid := (median.Min.X + median.Max.X) / 2
		stripe(c, bar.look, median.Max.X-median.Min.X, mid, median.Min.Y, mid, median.Max.Y)
	}
}

func fill(c draw.Canvas, r vg.Rectangle, col color.Color) {
	c.FillPolygon(col, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}

// hatch outlines a rectangle and fills it with lines that rise to the right.
func hatch(c draw.Canvas, r vg.Rectangle, col color.Color) {
	edge := draw.LineStyle{Color: col, Width: vg.Points(0.7)}
	c.StrokeLines(edge, []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}})
	w, h := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	for d := vg.Points(3) - w; d < h; d += vg.Points(3) { // where a line meets the left side, above the bottom
		from, to := max(0, -d), min(w, h-d)
		if from < to {
			c.StrokeLine2(edge, r.Min.X+from, r.Min.Y+d+from, r.Min.X+to, r.Min.Y+d+to)
		}
	}
}

// stripe cuts a thick line in the look's color where the look's dashes have
// gaps, so that what is dashed as a line is known again as a bar.
func stripe(c draw.Canvas, look int, width, x1, y1, x2, y2 vg.Length) {
	pattern := dashesOf(look)
	if pattern == nil {
		return
	}
	// What dashes leave out is drawn in white, from behind the first dash.
	gaps := draw.LineStyle{Color: color.White, Width: width, DashOffs: -pattern[0]}
	for k := range pattern {
		if k%2 == 0 {
			gaps.Dashes = append(gaps.Dashes, vg.Points(0.9))
		} else {
			gaps.Dashes = append(gaps.Dashes, pattern[(k+1)%len(pattern)])
		}
	}
	c.StrokeLine2(gaps, x1, y1, x2, y2)
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
