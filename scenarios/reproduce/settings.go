package reproduce

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
)

// The figures over settings of a protocol, sections 3 and 6.2.4.

// unschtMSS is how the study of UnschT has a packet's payload, in BDP.
const unschtMSS = "0.014"

// byX orders the points of a curve.
func byX(list []report.Point) {
	slices.SortFunc(list, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
}

// sensitivity draws the highest goodput over B, for each SThr.
func (f *Found) sensitivity() []report.Figure {
	figure := report.Figure{
		Name: "fig9-goodput", Set: "B and SThr, WKc Balanced", Panel: "highest goodput",
		X: report.Axis{Label: "B (BDP)"}, Y: report.Axis{Label: "goodput (Gbps/host)"},
		Caption: "The highest of the loads that were run.",
	}
	best := map[string]map[float64]float64{}
	var order []string
	f.of("sensitivity", func(j *Job, p *points.Point) {
		sthr := j.Label("sthr")
		b, err := strconv.ParseFloat(j.Label("b"), 64)
		if err != nil {
			return
		}
		if best[sthr] == nil {
			best[sthr] = map[float64]float64{}
			order = append(order, sthr)
		}
		best[sthr][b] = max(best[sthr][b], p.Goodput())
	})
	for i, sthr := range order {
		s := report.Series{Name: "SThr " + sthr + " BDP", Look: i, Shape: report.Curve}
		for b, goodput := range best[sthr] {
			s.Points = append(s.Points, report.Point{X: b, Y: goodput})
		}
		byX(s.Points)
		figure.Series = append(figure.Series, s)
	}
	return []report.Figure{figure}
}

// creditLocation draws where credit is at the load with the most goodput, by SThr.
func (f *Found) creditLocation() []report.Figure {
	figure := report.Figure{
		Name: "fig9-credit", Set: "B and SThr, WKc Balanced", Panel: "where credit is",
		Y:       report.Axis{Label: "credit (BDP/host)"},
		Caption: "B = 1.5 BDP. Means over hosts and time, at the load with the most goodput of those that were run.",
	}
	best := map[string]*points.Point{}
	var order []string
	f.of("sensitivity", func(j *Job, p *points.Point) {
		sthr := j.Label("sthr")
		if j.Label("b") != "1.5" {
			return
		}
		if best[sthr] == nil {
			order = append(order, sthr)
		}
		if best[sthr] == nil || p.Goodput() > best[sthr].Goodput() {
			best[sthr] = p
		}
	})
	for _, sthr := range order {
		figure.Groups = append(figure.Groups, "SThr "+sthr)
	}
	for i, part := range []struct{ name, quantity string }{
		{"at senders", "credit_at_senders_bdp"}, {"in flight", "credit_in_flight_bdp"},
		{"at receivers", "credit_at_receivers_bdp"},
	} {
		s := report.Series{Name: part.name, Look: i, Shape: report.Bars}
		for x, sthr := range order {
			if credit, ok := figuresOf(best[sthr])[part.quantity]; ok {
				s.Points = append(s.Points, report.Point{X: float64(x), Y: credit.Number, High: credit.Number})
			}
		}
		figure.Series = append(figure.Series, s)
	}
	figure.X = report.Axis{Min: -0.5, Max: float64(len(figure.Groups)) - 0.5}
	return []report.Figure{figure}
}

// frontier draws mean queues against goodput, over SIRD's B and Homa's k.
func (f *Found) frontier() []report.Figure {
	figure := report.Figure{
		Name: "fig2", Set: "What overcommitment costs, WKc at load 0.95",
		X: report.Axis{Label: "goodput (Gbps/host)"}, Y: report.Axis{Label: "mean ToR queue (MB)", Log: true},
		Caption: "SIRD by its global bucket B, in BDP, Homa by the senders k that a receiver grants at a time.",
		Labeled: true,
	}
	for _, protocol := range []string{"sird", "homa"} {
		series := report.Series{Name: protocol, Protocol: protocol, Look: f.look(protocol), Shape: report.Curve}
		f.of("frontier", func(j *Job, p *points.Point) {
			if j.Experiment.Protocol != protocol {
				return
			}
			_, setting, _ := strings.Cut(j.Label("variant"), "-") // b1.5, k7
			setting = strings.Replace(setting, "b", "B", 1)
			series.Points = append(series.Points, report.Point{X: p.Goodput(), Y: average(p), Note: setting})
		})
		figure.Series = append(figure.Series, series)
	}
	return []report.Figure{figure}
}
