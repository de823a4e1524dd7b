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

// HatchedBar explains the bars that are hatched: the hollow points of bars.
const HatchedBar = "A hatched bar has fewer than 100 samples"

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
	f := Figure{
		Name: "slowdown" + d.dash(), Title: "Slowdown by message size" + d.of(), Y: Axis{Label: "slowdown", Log: true},
		Parts: []string{"p50", "p99"},
	}
	for i := range d.variants {
		f.Series = append(f.Series, d.series(i, Bars))
	}
	total := make([]int, len(groups))
	low, high, few := 1.0, 1.0, false
	for g, name := range groups {
		for i, v := range d.variants {
			s := v.Latencies.Slowdown[results.Paper][name]
			total[g] += s.Count
			if s.Count == 0 {
				continue
			}
			f.Series[i].Points = append(f.Series[i].Points, Point{X: float64(g), Y: s.P50, High: s.P99,
				Hollow: s.Few, Note: counted(s.Count, "message", "messages")})
			low, high, few = min(low, s.P50), max(high, s.P99), few || s.Few
		}
		var borders []int64
		for _, border := range d.variants[0].Borders {
			borders = append(borders, int64(border))
		}
		f.Groups = append(f.Groups, groupName(name, borders))
	}
	f.Y.Min, f.Y.Max = min(1, low*0.9), high*1.6
	f.Caption = fmt.Sprintf("Slowdown by size group, the paper's definition: the median, and in a lighter shade the "+
		"p99. %d messages of all variants", total[len(total)-1])
	if d.hasIncast() {
		f.Caption += "; those of incast streams are left out"
	}
	if few {
		f.Caption += ". " + HatchedBar
	}
	f.Caption += "."
	d.add(f)
}

// hasIncast reports whether a variant has a stream that slowdowns leave out.
func (d *drawing) hasIncast() bool {
	return slices.ContainsFunc(d.variants, func(v *results.Variant) bool {
		return slices.ContainsFunc(v.Experiment.Streams, func(s traffic.Stream) bool {
			return s.Pattern == traffic.PatternIncast
		})
	})
}

type bar struct {
	group, at int // at: from the left, in the group
	look      int
	p50, p99  float64
	few       bool

	least, most float64 // the spread of p50, if it has one
}

// bars is a plotter of grouped bars that works on logarithmic axes, which
// plotter.BarChart does not.
type bars struct {
	list []bar
	each int // of a group
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	each := 0.8 / float64(b.each)
	for _, bar := range b.list {
		left := float64(bar.group) - 0.4 + each*float64(bar.at)
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
		spread(c, p, mid, bar.least, bar.most, ink)
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
