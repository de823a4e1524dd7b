package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Figure is a plot of a report.
type Figure struct {
	Name    string // of its file, without extension
	Caption string
	SVG     []byte
}

// cdfPoints bounds the points of a curve, timeBins those of a series.
const (
	cdfPoints = 400
	timeBins  = 500
)

// Figures draws the plots of a result.
func Figures(variants []*results.Variant) ([]Figure, error) {
	d := &drawing{variants: variants}
	parts := facets(variants)
	for _, f := range parts {
		part := &drawing{variants: f.variants, facet: f.name, protocols: protocolsOf(variants), err: d.err}
		part.compare()
		d.figures, d.err = append(d.figures, part.figures...), part.err
	}
	if len(parts) == 0 {
		d.compare()
	}
	d.queueByGoodput()
	for _, name := range gaugeNames(variants) {
		d.gauge(name)
	}
	return d.figures, d.err
}

type drawing struct {
	variants  []*results.Variant
	facet     string   // that they are, "" for all of the result
	protocols []string // of all of the result
	figures   []Figure
	err       error
}

// compare draws what there is of every variant.
func (d *drawing) compare() {
	for _, name := range streamNames(d.variants) {
		d.latency(name)
	}
	d.slowdown()
	d.goodput()
	d.queue()
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func (d *drawing) add(name, caption string, c *chart) {
	if d.err != nil {
		return
	}
	var f Figure
	f.Name, f.Caption = unsafe.ReplaceAllString(name, "-"), caption
	if f.SVG, d.err = c.svg(width, height); d.err == nil {
		d.figures = append(d.figures, f)
	}
}

func streamNames(variants []*results.Variant) (names []string) {
	for _, v := range variants {
		for _, s := range v.Experiment.Streams {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// latency draws the cumulative distributions of a stream's latency, one curve
// for each variant, as the paper's figure "Incast" does.
func (d *drawing) latency(stream string) {
	type curve struct {
		name string
		dist *stats.Distribution
	}
	curves := make([]curve, len(d.variants))
	low, high, typical := math.Inf(1), 0.0, 0.0
	for i, v := range d.variants {
		samples := v.LatencySamples(stream)
		for j := range samples {
			samples[j] /= float64(units.Microsecond)
		}
		c := curve{d.label(v), stats.New(samples)}
		curves[i] = c
		if c.dist.Count() > 0 {
			low, high = min(low, c.dist.Quantile(0)), max(high, c.dist.Quantile(0.999))
			typical = max(typical, c.dist.Quantile(0.5))
		}
	}
	if high == 0 {
		return
	}
	p := newChart("Latency of "+stream+d.of(), "latency (us)", "share of messages")
	p.Add(gridLines())
	if logarithmic := low > 0 && high/low > 20; logarithmic {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
		p.X.Min, p.X.Max = low*0.9, high*1.1
	} else {
		p.X.Min, p.X.Max = max(0, low-(high-low)*0.08), high+(high-low)*0.05
		if p.X.Max <= p.X.Min {
			p.X.Min, p.X.Max = low*0.9, low*1.1
		}
	}
	for i, c := range curves {
		if c.dist.Count() == 0 {
			continue
		}
		var points plotter.XYs
		points = append(points, plotter.XY{X: max(c.dist.Quantile(0), p.X.Min), Y: 0})
		for _, pt := range c.dist.CDF(cdfPoints) {
			if pt.X <= p.X.Max {
				points = append(points, plotter.XY{X: pt.X, Y: pt.Y})
			}
		}
		points = append(points, plotter.XY{X: p.X.Max, Y: points[len(points)-1].Y})
		d.line(p, c.name, line(d.look(i)), points, true)
	}
	p.Y.Min, p.Y.Max = 0, 1
	caption := fmt.Sprintf("Cumulative distribution of the latency of %s, from nominal arrival to completion, "+
		"to p99.9.", stream)
	d.add("latency-"+stream+d.dash(), caption, p)
}

// line adds a line and its legend.
func (d *drawing) line(c *chart, name string, style draw.LineStyle, points plotter.XYs, steps bool) {
	l, err := plotter.NewLine(points)
	if err != nil {
		if d.err == nil {
			d.err = fmt.Errorf("plot %q: %w", c.title, err)
		}
		return
	}
	l.LineStyle = style
	if steps {
		l.StepStyle = plotter.PostStep
	}
	c.Add(l)
	c.legend(name, style)
}

func gridLines() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	g.Vertical.Width, g.Horizontal.Width = vg.Points(0.5), vg.Points(0.5)
	return g
}

// queue draws the sampled queue of the port that was the deepest in any
// variant, over the run.
func (d *drawing) queue() {
	busiest, most := "", int64(0)
	for _, v := range d.variants {
		for _, name := range deepest(v.Queue.Ports, 1) {
			if m := v.Queue.Ports[name].Max; m > most {
				busiest, most = name, m
			}
		}
	}
	if busiest == "" {
		return
	}
	p := d.timePlot("Queue of "+busiest+d.of(), "queue (KB)")
	captured := false
	for i, v := range d.variants {
		for id := range v.Fabric.Ports {
			if v.Fabric.Ports[id].Name != busiest {
				continue
			}
			at, values := v.Queues.Series(v.Queues.Ports[id], 0, v.End+1)
			points := make([]results.GaugePoint, len(at))
			for k := range at {
				points[k] = results.GaugePoint{At: at[k], Value: values[k] / 1000}
			}
			if exact := exactSeries(v, busiest); len(exact) > 0 {
				points, captured = exact, true
			}
			if len(points) > 0 {
				style := thin(d.look(i))
				// What is drawn first is wider, to be seen behind what is the same.
				if last := len(d.variants) - 1; last > 0 {
					style.Width += vg.Points(min(0.9, 1.8/float64(last)) * float64(last-i))
				}
				d.line(p, d.label(v), style, toXY(peaks(points, timeBins)), true)
			}
		}
	}
	finishTime(p)
	caption := fmt.Sprintf("Bytes waiting at %s, the port with the deepest sampled queue: the most in each of at most "+
		"%d spans", busiest, timeBins)
	if captured {
		caption += ", packet by packet from the capture where there is one"
	}
	d.add("queue"+d.dash(), caption+"."+d.noteFailures(), p)
}

// exactSeries is a port's queue as a capture shows it, in KB.
func exactSeries(v *results.Variant, port string) (points []results.GaugePoint) {
	for _, r := range v.Captures {
		for _, q := range r.Ports {
			if q.Port.Name != port {
				continue
			}
			for _, depth := range q.Series {
				points = append(points, results.GaugePoint{At: depth.At, Value: float64(depth.Bytes) / 1000})
			}
		}
	}
	return points
}

// goodput draws what arrived for the first time, over the run.
func (d *drawing) goodput() {
	p := d.timePlot("Goodput"+d.of(), "goodput, all hosts (Gbps)")
	drawn := false
	for i, v := range d.variants {
		var sums []results.GaugePoint
		for _, s := range seriesOf(v, "payload_received") {
			sums = addSeries(sums, s)
		}
		if points := rates(sums, timeBins/5); len(points) > 1 {
			d.line(p, d.label(v), line(d.look(i)), toXY(points), true)
			drawn = true
		}
	}
	if !drawn {
		return
	}
	finishTime(p)
	caption := "Payload received for the first time, by all hosts together." + d.noteFailures()
	d.add("goodput"+d.dash(), caption, p)
}

// stages returns when receivers of outcast streams join.
func stages(variants []*results.Variant) (times []float64) {
	for _, s := range variants[0].Experiment.Streams {
		if s.Pattern == traffic.PatternOutcast && s.Stagger > 0 {
			for k := range len(s.To) {
				times = append(times, (s.Start + units.Time(k)*s.Stagger).Milliseconds())
			}
			return times
		}
	}
	return nil
}

func (d *drawing) timePlot(title, y string) *chart {
	variants := d.variants
	p := newChart(title, "nominal time (ms)", y)
	p.Add(gridLines())
	end := 0.0
	for _, v := range variants {
		end = max(end, v.End.Milliseconds())
	}
	p.Add(d.failures())
	p.Add(&window{from: variants[0].From.Milliseconds(), to: variants[0].To.Milliseconds(), end: end,
		stages: stages(variants)})
	p.X.Min, p.X.Max = 0, end
	return p
}

// finishTime leaves room above the lines.
func finishTime(p *chart) {
	p.Y.Min = min(0, p.Y.Min)
	p.Y.Max += (p.Y.Max - p.Y.Min) * 0.08
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
}

func toXY(points []results.GaugePoint) plotter.XYs {
	xy := make(plotter.XYs, len(points))
	for i, pt := range points {
		xy[i] = plotter.XY{X: pt.At.Milliseconds(), Y: pt.Value}
	}
	return xy
}
