package report

import (
	"fmt"
	"math"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// Limits of what a page shows of gauges.
const (
	maxGauges    = 8
	maxGaugeLine = 8
	averages     = 50 // the moving average's span is as small a part of the run
)

// gaugeNames lists the gauges that a report draws: those of whole hosts. The
// ones of a single peer ("bucket/h1-2") are in series.parquet.
func gaugeNames(variants []*results.Variant) (names []string) {
	for _, v := range variants {
		for _, name := range v.GaugeNames() {
			if name != "payload_received" && !slices.Contains(names, name) && !slices.Contains([]byte(name), '/') {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names[:min(maxGauges, len(names))]
}

func seriesOf(v *results.Variant, gauge string) (list []*results.Series) {
	for i := range v.Gauges {
		if v.Gauges[i].Gauge == gauge && len(v.Gauges[i].Points) > 0 {
			list = append(list, &v.Gauges[i])
		}
	}
	return list
}

// A gaugeLine is one line of a gauge's figure.
type gaugeLine struct {
	Series
	points []results.GaugePoint
}

// gauge draws a gauge over the run, samples faint and their moving average bold.
func (d *drawing) gauge(name string) {
	lines, whose := d.gaugeLines(name)
	unit, scale := gaugeScale(name, lines)
	if scale == 0 {
		return
	}
	f := d.overTime("gauge-"+name, name+whose, name+unit)
	var spans []units.Time
	hosts, drawn := len(lines), lines
	if len(d.variants) == 1 { // of several variants each has its line
		drawn = lines[:min(len(lines), maxGaugeLine)]
	}
	for _, l := range drawn {
		if len(l.points) < 2 {
			continue
		}
		spans = append(spans, f.addGauge(l, scale, len(lines) <= 4))
	}
	if len(spans) == 0 {
		return
	}
	f.Caption = fmt.Sprintf("Gauge %s over the run: samples, and their moving average over %.3g ms. Hosts at which it "+
		"never changes are left out.", name, spans[0].Milliseconds())
	if len(drawn) < hosts {
		f.Caption += fmt.Sprintf(" The %d hosts with the largest values of %d.", len(drawn), hosts)
	}
	f.Caption += noteFaults(f)
	d.add(f)
}

// gaugeLines returns a gauge's lines, and what the title says of them: for a single
// variant a line for each host, for several variants each one's sum over the hosts
// that the gauge moves at.
func (d *drawing) gaugeLines(name string) (lines []gaugeLine, whose string) {
	if len(d.variants) == 1 {
		for _, s := range moving(seriesOf(d.variants[0], name)) {
			v := d.variants[0]
			line := Series{Name: v.Fabric.HostName(s.Host), Look: len(lines), Shape: Line}
			lines = append(lines, gaugeLine{line, s.Points})
		}
		return lines, " by host"
	}
	for i, v := range d.variants {
		var sum []results.GaugePoint
		for _, s := range moving(seriesOf(v, name)) {
			sum = addSeries(sum, s)
		}
		if len(sum) > 0 {
			lines = append(lines, gaugeLine{d.series(i, Line), sum})
		}
	}
	return lines, ", sum over hosts"
}

// gaugeScale returns the unit of a gauge's axis, and what values are divided by: 0 if all
// of them are 0.
func gaugeScale(name string, lines []gaugeLine) (unit string, scale float64) {
	largest := 0.0
	for _, l := range lines {
		for _, p := range l.points {
			largest = max(largest, math.Abs(p.Value))
		}
	}
	unit, scale = GaugeUnit(name)
	switch {
	case largest == 0:
		return "", 0
	case scale != 1:
		return " (" + unit + ")", scale
	case largest > 10000:
		return " (thousands)", 1000
	}
	return "", 1 // the name says of what it is a number
}

// addGauge adds a line of a gauge, and its samples if wanted. It returns the span of
// the moving average.
func (f *Figure) addGauge(l gaugeLine, scale float64, withSamples bool) (span units.Time) {
	span = (l.points[len(l.points)-1].At - l.points[0].At) / averages
	samples := means(l.points, timeBins)
	average := means((&results.Series{Points: l.points}).MovingAverage(span), timeBins)
	for k := range samples {
		samples[k].Value /= scale
	}
	for k := range average {
		average[k].Value /= scale
	}
	if withSamples {
		s := l.Series
		s.Points, s.Faint, s.Width = toPoints(samples), true, thin
		f.Series = append(f.Series, s)
	}
	s := l.Series
	s.Points = toPoints(average)
	f.Series = append(f.Series, s)
	return span
}

// moving leaves out hosts at which a gauge never changes, unless it changes
// nowhere, and sorts by the largest value.
func moving(list []*results.Series) []*results.Series {
	largest := func(s *results.Series) float64 {
		return slices.MaxFunc(s.Points, func(a, b results.GaugePoint) int { return cmpFloat(a.Value, b.Value) }).Value
	}
	changing := slices.DeleteFunc(slices.Clone(list), func(s *results.Series) bool {
		return !slices.ContainsFunc(s.Points, func(p results.GaugePoint) bool { return p.Value != s.Points[0].Value })
	})
	if len(changing) == 0 {
		changing = slices.Clone(list)
	}
	if len(changing) > maxGaugeLine {
		slices.SortStableFunc(changing, func(a, b *results.Series) int { return cmpFloat(largest(b), largest(a)) })
	}
	return changing
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// addSeries adds a host's samples to a sum. Hosts sample at the same nominal
// times; where one is late its sample counts from the sum's next time on.
func addSeries(sum []results.GaugePoint, s *results.Series) []results.GaugePoint {
	if sum == nil {
		return slices.Clone(s.Points)
	}
	k := 0
	for i := range sum {
		for k+1 < len(s.Points) && s.Points[k+1].At <= sum[i].At {
			k++
		}
		if s.Points[k].At <= sum[i].At {
			sum[i].Value += s.Points[k].Value
		}
	}
	return sum
}

// bins cuts points into at most n spans of equal time and makes a point of
// each that has some.
func bins(points []results.GaugePoint, n int, of func([]results.GaugePoint) float64) []results.GaugePoint {
	if len(points) <= n {
		return slices.Clone(points)
	}
	first, last := points[0].At, points[0].At
	for _, p := range points { // which a damaged log may have in any order
		first, last = min(first, p.At), max(last, p.At)
	}
	span, spans := last+1-first, units.Time(n)
	var out []results.GaugePoint
	for i := 0; i < len(points); {
		b := max(1, (points[i].At-first)*spans/span)
		for first+span*b/spans <= points[i].At {
			b++
		}
		j := i + 1
		for until := first + span*b/spans; j < len(points) && points[j].At < until; j++ {
		}
		out = append(out, results.GaugePoint{At: points[i].At, Value: of(points[i:j])})
		i = j
	}
	return out
}

func peaks(points []results.GaugePoint, n int) []results.GaugePoint {
	return bins(points, n, func(part []results.GaugePoint) float64 {
		return slices.MaxFunc(part, func(a, b results.GaugePoint) int { return cmpFloat(a.Value, b.Value) }).Value
	})
}

func means(points []results.GaugePoint, n int) []results.GaugePoint {
	return bins(points, n, func(part []results.GaugePoint) (mean float64) {
		for _, p := range part {
			mean += p.Value / float64(len(part))
		}
		return mean
	})
}

// rates turns samples of a growing count of bytes into Gbps over n spans.
func rates(points []results.GaugePoint, n int) (out []results.GaugePoint) {
	ends := bins(points, n, func(part []results.GaugePoint) float64 { return part[0].Value })
	for i := 1; i < len(ends); i++ {
		if span := ends[i].At - ends[i-1].At; span > 0 {
			out = append(out, results.GaugePoint{At: ends[i-1].At,
				Value: (ends[i].Value - ends[i-1].Value) * 8 / float64(span)})
		}
	}
	return out
}
