package report

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sirdbed/capture/results"
)

// loadOf is what the variant's streams offer, as a fraction of the hosts' links.
func loadOf(v *results.Variant) (load float64) {
	for i := range v.Experiment.Streams {
		load += v.Experiment.Streams[i].Load
	}
	return load
}

// leastLoads is how many loads of a protocol make a curve.
const leastLoads = 3

// queueByGoodput draws the deepest queue of a switch against goodput, a curve
// for each protocol over its loads, as the paper's figure does.
func (d *drawing) queueByGoodput() {
	p := newChart("Deepest queue of a switch by goodput", "goodput per host (Gbps)", "queue (KB)")
	p.Add(gridLines())
	least, most, right := math.Inf(1), 0.0, 0.0
	for i, protocol := range protocolsOf(d.variants) {
		var list []*results.Variant
		for _, v := range d.variants {
			if v.Protocol == protocol && loadOf(v) > 0 && v.Queue.Max > 0 {
				list = append(list, v)
			}
		}
		slices.SortStableFunc(list, func(a, b *results.Variant) int { return cmp.Compare(loadOf(a), loadOf(b)) })
		loads := map[float64]bool{}
		points := make(plotter.XYs, len(list))
		for k, v := range list {
			loads[loadOf(v)] = true
			points[k] = plotter.XY{X: v.Goodput.Gbps, Y: float64(v.Queue.Max) / 1000}
		}
		if len(loads) < leastLoads {
			continue
		}
		for _, pt := range points {
			least, most, right = min(least, pt.Y), max(most, pt.Y), max(right, pt.X)
		}
		d.line(p, protocol, line(i), points, false)
		p.Add(&dots{list, points, colorOf(i)})
	}
	if most == 0 {
		return
	}
	p.X.Min, p.X.Max = 0, right*1.05
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	p.Y.Min, p.Y.Max = least*0.7, most*1.4
	d.add("queue-by-goodput", "The deepest queue of a switch, the sum over its ports, against goodput, at the loads "+
		"that were run. A hollow point is of an unstable run.", p)
}

// dots marks the points of a curve, those of unstable runs hollow.
type dots struct {
	variants []*results.Variant
	points   plotter.XYs
	color    color.Color
}

// Plot implements plot.Plotter.
func (d *dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, pt := range d.points {
		at := vg.Point{X: x(pt.X), Y: y(pt.Y)}
		c.DrawGlyph(draw.GlyphStyle{Color: d.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, at)
		if d.variants[i].Stability.Unstable {
			c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}, at)
		}
	}
}
