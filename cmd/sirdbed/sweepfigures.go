package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"sirdbed/capture/metric"
	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/sweep"
)

// mostFigures is how many figures a sweep's page has: more than people look at take long to
// draw.
const mostFigures = 60

// figures draws each metric over the axis across, a series for each label of another, and a
// figure for each place on the axes that are left: medians of the seeds, with their range.
// left is how many there would be beyond mostFigures.
func (t *sweepTable) figures() (list []report.Figure, left int) {
	if t.across == "" {
		return nil, 0
	}
	_, labels := sweep.Axes(t.jobs)
	panels, names := t.panels(), map[string]bool{}
	places, jobs := t.panelPlaces(panels)
	for k := range t.metrics {
		for i, place := range places {
			f := t.drawn(&t.metrics[k], place, jobs[i], labels)
			if !slices.ContainsFunc(f.Series, func(s report.Series) bool { return len(s.Points) > 0 }) {
				continue
			}
			if len(list) == mostFigures {
				left++
				continue
			}
			name := f.Name
			for n := 2; names[f.Name]; n++ { // signs that names do without may be all that tells them apart
				f.Name = fmt.Sprintf("%s-%d", name, n)
			}
			names[f.Name] = true
			list = append(list, f)
		}
	}
	return list, left
}

// panelPlaces groups jobs by where they are on the panels' axes.
func (t *sweepTable) panelPlaces(panels []string) (places []string, jobs [][]int) {
	for i := range t.jobs {
		var parts []string
		for _, a := range panels {
			if label := t.jobs[i].Label(a); label != "" {
				parts = append(parts, a+" "+label)
			}
		}
		place := strings.Join(parts, ", ")
		k := slices.Index(places, place)
		if k < 0 {
			k = len(places)
			places, jobs = append(places, place), append(jobs, nil)
		}
		jobs[k] = append(jobs[k], i)
	}
	return places, jobs
}

// unsafeName is what file names and a page's address do without.
var unsafeName = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// longestFigureName is how many letters a figure's name has at most: file systems take 255 bytes with
// what is put behind it.
const longestFigureName = 100

// figureName makes a name for files and a page's address of what a figure shows.
func figureName(what string) string {
	name := strings.Trim(unsafeName.ReplaceAllString(what, "-"), "-.")
	return strings.TrimRight(name[:min(len(name), longestFigureName)], "-.")
}

// drawn is the figure of a metric at a place.
func (t *sweepTable) drawn(m *metric.Metric, place string, jobs []int, labels map[string][]string) report.Figure {
	what := heading(m)
	f := report.Figure{
		Name:  figureName(what + " " + place),
		Title: what + " by " + t.across, X: report.Axis{Label: t.across}, Y: report.Axis{Label: what},
	}
	if place != "" {
		f.Title += ", " + place
	}
	n, numeric := numbersOf(labels[t.across])
	shape := report.Curve
	switch {
	case !numeric:
		f.Groups, shape = labels[t.across], report.Bars
		f.Parts, f.X = []string{what}, report.Axis{Min: -0.5, Max: float64(len(f.Groups)) - 0.5}
	case n.unit != "":
		f.X.Label += " (" + n.unit + ")"
	}
	seeds, hollow := 1, false
	for i, label := range t.seriesLabels(labels) {
		s := report.Series{Name: label, Look: i, Shape: shape}
		if t.series == "" {
			s.Name = what
		}
		if t.series == sweep.ProtocolAxis {
			s.Protocol, s.Look = label, lookOf(label, i)
		}
		for at, x := range labels[t.across] {
			here := t.at(jobs, label, x)
			value := t.figure(m, here)
			if len(value.values) == 0 {
				continue
			}
			p := report.Point{X: float64(at), Y: report.Median(value.values), Hollow: value.mark != noMark}
			if !numeric || n.unit == "" {
				p.Note = t.across + " " + x
			}
			if numeric {
				p.X = n.of[x]
			}
			if count := len(value.values); count > 1 {
				p.Spread = [2]float64{value.values[0], value.values[count-1]}
				seeds = max(seeds, count)
			}
			hollow = hollow || p.Hollow
			s.Points = append(s.Points, p)
		}
		slices.SortStableFunc(s.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
		f.Series = append(f.Series, s)
	}
	f.Y.Log = wantsLog(f.Series)
	f.Caption = t.caption(m, seeds, hollow, shape)
	return f
}

// seriesLabels are the labels of the axis of series, one without a name if there is none.
func (t *sweepTable) seriesLabels(labels map[string][]string) []string {
	if t.series == "" {
		return []string{""}
	}
	return labels[t.series]
}

// at are those of jobs that are at a label of the series and of the axis across.
func (t *sweepTable) at(jobs []int, series, across string) (list []int) {
	for _, i := range jobs {
		j := &t.jobs[i]
		if j.Label(t.across) == across && (t.series == "" || j.Label(t.series) == series) {
			list = append(list, i)
		}
	}
	return list
}

// lookOf is a protocol's color: the paper's have the same in all figures, others come after.
func lookOf(protocol string, i int) int {
	if k := slices.Index(paper.Protocols, protocol); k >= 0 {
		return k
	}
	return len(paper.Protocols) + i
}

// wantsLog reports whether figures are so far apart that a linear axis shows the largest
// alone.
func wantsLog(list []report.Series) bool {
	least, most := 0.0, 0.0
	for _, s := range list {
		for _, p := range s.Points {
			if !(p.Y > 0) || math.IsInf(p.Y, 0) {
				return false
			}
			if least == 0 || p.Y < least {
				least = p.Y
			}
			most = max(most, p.Y)
		}
	}
	return most > 20*least
}

// caption says what a figure shows.
func (t *sweepTable) caption(m *metric.Metric, seeds int, hollow bool, shape report.Shape) string {
	text := "Metric " + m.Name + "."
	if seeds > 1 {
		text += fmt.Sprintf(" Medians of up to %d seeds, with the range of all.", seeds)
	}
	if hollow && shape == report.Curve {
		text += " A hollow point carries less than is offered, was ended since a queue grew without bound, or is " +
			"INVALID."
	}
	return text
}
