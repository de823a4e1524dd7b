package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// cdfPoints bounds the points of a curve, timeBins those of a series.
const (
	cdfPoints = 400
	timeBins  = 500
)

// Figures returns the plots of a result: those known from the paper first.
func Figures(variants []*results.Variant) []Figure {
	all := &drawing{variants: variants}
	parts := []*drawing{all}
	if list := facets(variants); len(list) > 0 {
		parts = nil
		for _, f := range list {
			parts = append(parts, &drawing{variants: f.variants, facet: f.name, protocols: protocolsOf(variants)})
		}
	}
	each := func(draw func(*drawing)) {
		for _, d := range parts {
			draw(d)
			all.take(d)
		}
	}
	all.queueByGoodput()
	each((*drawing).slowdown)
	each(func(d *drawing) {
		for _, name := range streamNames(d.variants) {
			d.latency(name)
		}
	})
	each((*drawing).queueCDF)
	each((*drawing).goodput)
	each((*drawing).queue)
	for _, name := range gaugeNames(variants) {
		all.gauge(name)
	}
	return all.figures
}

// A drawing makes the figures of some variants.
type drawing struct {
	variants  []*results.Variant
	facet     string   // that they are, "" for all of the result
	protocols []string // of all of the result
	figures   []Figure
}

// take moves the figures of a part into those of the whole.
func (d *drawing) take(part *drawing) {
	if part != d {
		for _, f := range part.figures {
			d.add(f)
		}
		part.figures = nil
	}
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// add adds a figure under a name that is a file's and no other figure's.
func (d *drawing) add(f Figure) {
	name := unsafe.ReplaceAllString(f.Name, "-")
	f.Name = name
	for n := 2; slices.ContainsFunc(d.figures, func(g Figure) bool { return g.Name == f.Name }); n++ {
		f.Name = fmt.Sprintf("%s-%d", name, n)
	}
	d.figures = append(d.figures, f)
}

// series is a series of the i-th variant.
func (d *drawing) series(i int, shape Shape) Series {
	v := d.variants[i]
	return Series{Name: d.label(v), Protocol: v.Protocol, Look: d.look(i), Shape: shape}
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
	curves := make([]*stats.Distribution, len(d.variants))
	low, high := math.Inf(1), 0.0
	for i, v := range d.variants {
		samples := v.LatencySamples(stream)
		for j := range samples {
			samples[j] /= float64(units.Microsecond)
		}
		curves[i] = stats.New(samples)
		if curves[i].Count() > 0 {
			low, high = min(low, curves[i].Quantile(0)), max(high, curves[i].Quantile(0.999))
		}
	}
	if high == 0 {
		return
	}
	f := Figure{
		Name: "latency-" + stream + d.dash(), Title: "Latency of " + stream + d.of(),
		X: Axis{Label: "latency (us)", Log: low > 0 && high/low > 20}, Y: Axis{Label: "share of messages", Max: 1},
		Shares: true,
		Caption: fmt.Sprintf("Cumulative distribution of the latency of %s, from nominal arrival to completion, "+
			"to p99.9.", stream),
	}
	if f.X.Log {
		f.X.Min, f.X.Max = low*0.9, high*1.1
	} else {
		f.X.Min, f.X.Max = max(0, low-(high-low)*0.08), high+(high-low)*0.05
		if f.X.Max <= f.X.Min {
			f.X.Min, f.X.Max = low*0.9, low*1.1
		}
	}
	for i, dist := range curves {
		if dist.Count() > 0 {
			s := d.series(i, Steps)
			s.Points = cdf(dist, f.X)
			f.Series = append(f.Series, s)
		}
	}
	d.add(f)
}

// cdf is a distribution as far as an axis goes, from share 0 on.
func cdf(dist *stats.Distribution, x Axis) []Point {
	points := []Point{{X: max(dist.Quantile(0), x.Min)}}
	for _, pt := range dist.CDF(cdfPoints) {
		if pt.X <= x.Max {
			points = append(points, Point{X: pt.X, Y: pt.Y})
		}
	}
	return append(points, Point{X: x.Max, Y: points[len(points)-1].Y})
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
	f := d.overTime("queue"+d.dash(), "Queue of "+busiest+d.of(), "queue (KB)")
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
				s := d.series(i, Steps)
				s.Points, s.Width = toPoints(peaks(points, timeBins)), thin
				// What is drawn first is wider, to be seen behind what is the same.
				if last := len(d.variants) - 1; last > 0 {
					s.Width += min(0.9, 1.8/float64(last)) * float64(last-i)
				}
				f.Series = append(f.Series, s)
			}
		}
	}
	f.Caption = fmt.Sprintf("Bytes waiting at %s, the port with the deepest sampled queue: the most in each of at "+
		"most %d spans", busiest, timeBins)
	if captured {
		f.Caption += ", packet by packet from the capture where there is one"
	}
	f.Caption += "." + noteFaults(f)
	d.add(f)
}

// queueCDF draws how much waits in leaves, as the paper's figure of Homa's queues does: a
// sample of each at every tick of the window.
func (d *drawing) queueCDF() {
	f := Figure{
		Name: "queue-cdf" + d.dash(), Title: "Queue of leaves" + d.of(),
		X: Axis{Label: "queue (KB)"}, Y: Axis{Label: "share of samples", Max: 1}, Shares: true,
		Caption: "Cumulative distribution of the queues of leaves, each the sum over its ports, over the window, " +
			"to p99.9.",
	}
	curves := make([]*stats.Distribution, len(d.variants))
	for i, v := range d.variants {
		var samples []float64
		for n := range v.Fabric.Nodes {
			if node := &v.Fabric.Nodes[n]; node.Kind == topo.Leaf {
				_, values := v.Queues.Series(v.Queues.SumOver(node.Ports), v.From, v.To)
				samples = append(samples, values...)
			}
		}
		for k := range samples {
			samples[k] /= 1000
		}
		curves[i] = stats.New(samples)
		if curves[i].Count() > 0 {
			f.X.Max = max(f.X.Max, curves[i].Quantile(0.999)*1.05)
		}
	}
	if f.X.Max == 0 {
		return
	}
	for i, dist := range curves {
		if dist.Count() > 0 {
			s := d.series(i, Steps)
			s.Points = cdf(dist, f.X)
			f.Series = append(f.Series, s)
		}
	}
	d.add(f)
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
	f := d.overTime("goodput"+d.dash(), "Goodput"+d.of(), "goodput, all hosts (Gbps)")
	for i, v := range d.variants {
		var sums []results.GaugePoint
		for _, s := range seriesOf(v, "payload_received") {
			sums = addSeries(sums, s)
		}
		if points := rates(sums, timeBins/5); len(points) > 1 {
			s := d.series(i, Steps)
			s.Points = toPoints(points)
			f.Series = append(f.Series, s)
		}
	}
	if len(f.Series) == 0 {
		return
	}
	f.Caption = "Payload received for the first time, by all hosts together." + noteFaults(f)
	d.add(f)
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

// overTime is a figure over nominal time without its series.
func (d *drawing) overTime(name, title, y string) Figure {
	variants := d.variants
	end := 0.0
	for _, v := range variants {
		end = max(end, v.End.Milliseconds())
	}
	return Figure{
		Name: name, Title: title, X: Axis{Label: "nominal time (ms)"}, Y: Axis{Label: y},
		Time: &Time{From: variants[0].From.Milliseconds(), To: variants[0].To.Milliseconds(), End: end,
			Stages: stages(variants), Faults: d.faults()},
	}
}

// faults are the timelines of the variants. Those with the same one share a row.
func (d *drawing) faults() (rows []FaultRow) {
	seen := map[string]bool{}
	for i, v := range d.variants {
		row, text := FaultRow{Look: d.look(i)}, ""
		for k := range v.Experiment.Timeline {
			e := &v.Experiment.Timeline[k]
			row.Spans = append(row.Spans, [2]float64{e.At.Milliseconds(), min(e.End(), v.End).Milliseconds()})
			text += e.String() + "\n"
		}
		if len(row.Spans) > 0 && !seen[text] {
			seen[text] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// noteFaults is what a caption says of them.
func noteFaults(f Figure) string {
	if len(f.Time.Faults) == 0 {
		return ""
	}
	return " Bars along the lower edge: faults."
}

func toPoints(list []results.GaugePoint) []Point {
	points := make([]Point, len(list))
	for i, p := range list {
		points[i] = Point{X: p.At.Milliseconds(), Y: p.Value}
	}
	return points
}
