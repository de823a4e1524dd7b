package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
)

// FigureOf is the paper's figure that one of a name of Figures is a panel of: "Figure 6" of
// "fig6-core-wkc".
func FigureOf(name string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "fig"), "-")
	return "Figure " + number
}

// Figures draws the paper's figures of what was found, in its order. Those of which
// nothing was found are left out.
func (f *Found) Figures() (list []report.Figure) {
	m := f.Measured()
	for _, draw := range []func() []report.Figure{
		f.bufferCDF, f.frontier, f.incastLatency, f.outcastCredit, func() []report.Figure { return f.overview(m) },
		func() []report.Figure {
			return f.queueByGoodput("fig6", "Deepest ToR queue against goodput", m, deepest)
		},
		func() []report.Figure { return f.slowdownBars("fig7", Half, []string{"wka", "wkc"}, paper.Configs) },
		func() []report.Figure {
			return f.slowdownBars("fig8", "0.7", []string{"wka", "wkc"}, []string{"balanced"})
		},
		f.sensitivity, f.creditLocation,
		func() []report.Figure { return f.overSetting("fig10", "unscheduled", "unscht", "UnschT") },
		func() []report.Figure { return f.overSetting("fig11", "priorities", "priorities", "priorities") },
		func() []report.Figure { return f.slowdownBars("fig12", Half, []string{"wkb"}, paper.Configs) },
		func() []report.Figure {
			return f.queueByGoodput("fig13", "Mean ToR queue against goodput", nil, average)
		},
	} {
		for _, figure := range draw() {
			if slices.ContainsFunc(figure.Series, func(s report.Series) bool { return len(s.Points) > 0 }) {
				figure.Title = FigureOf(figure.Name) + ". " + figure.Title
				list = append(list, figure)
			}
		}
	}
	return list
}

// look is a protocol's color, the same in all figures: the paper's have theirs, others come
// after in the order of the plan.
func (f *Found) look(protocol string) int {
	list := slices.Clone(paper.Protocols)
	for i := range f.Jobs {
		if p := f.Jobs[i].Experiment.Protocol; !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return slices.Index(list, protocol)
}

// title is a configuration and a workload as figures call them.
func title(config, workload string) string {
	return strings.ToUpper(workload[:2]) + workload[2:] + " " + strings.ToUpper(config[:1]) + config[1:]
}

// queueByGoodput draws a queue of leaves over the loads, a panel for each configuration and
// workload. With m, crosses are the printed maxima.
func (f *Found) queueByGoodput(
	name, what string, m *paper.Measured, queue func(*points.Point) float64,
) (list []report.Figure) {
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			figure := report.Figure{
				Name: name + "-" + config + "-" + workload, Title: what + ", " + title(config, workload),
				X: report.Axis{Label: "goodput (Gbps/host)"}, Y: report.Axis{Label: "queue (MB)", Log: true},
				Caption: "A point for each load. The queue is the sum over a leaf's ports; a hollow point carries " +
					"less than is offered.",
			}
			if m != nil {
				figure.Caption += " Crosses are the maxima that the paper prints."
			}
			fewest := len(f.Loads(config)) // points of a protocol
			for _, protocol := range f.Protocols(config) {
				s := report.Series{Name: protocol, Protocol: protocol, Look: f.look(protocol), Shape: report.Curve}
				for _, load := range f.Loads(config) {
					list := f.At(Place{config, workload, load, protocol, "released"})
					if len(list) == 0 {
						continue
					}
					p := list[0]
					s.Points = append(s.Points, report.Point{
						X: p.Goodput(), Y: queue(p), Hollow: p.NotCarried() != "", Note: "load " + load,
					})
				}
				fewest = min(fewest, len(s.Points))
				figure.Series = append(figure.Series, s)
				if m != nil && len(s.Points) > 0 {
					figure.Series = append(figure.Series, f.printedMaximum(config, workload, protocol))
				}
			}
			if m != nil && fewest < len(f.Loads(config)) {
				figure.Caption += " Not all loads are run yet: crosses, which are of the best load, are not to be " +
					"compared with the points."
			}
			list = append(list, figure)
		}
	}
	return list
}

// printedMaximum is a cross at the paper's maxima of goodput and queue.
func (f *Found) printedMaximum(config, workload, protocol string) report.Series {
	s := report.Series{Name: protocol, Protocol: protocol, Look: f.look(protocol), Shape: report.Marks}
	goodput, ok1 := printed(paper.MaxGoodput, config, workload, protocol)
	queue, ok2 := printed(paper.MaxTorQueue, config, workload, protocol)
	if ok1 && ok2 {
		s.Points = []report.Point{{X: goodput, Y: queue, Note: "printed"}}
	}
	return s
}

// printed is a number of the paper's tables, if it printed one.
func printed(table, config, workload, protocol string) (float64, bool) {
	v, ok := paper.Printed().Cells[paper.Cell{Table: table, Config: config, Workload: workload, Protocol: protocol}]
	return v.Number, ok && !v.Unstable
}

// groups are the size groups of the paper's figures.
var groups = []string{"A", "B", "C", "D", results.AllSizes}

// slowdownBars draws median and p99 by size group at a load.
func (f *Found) slowdownBars(name, load string, workloads, configs []string) (list []report.Figure) {
	for _, config := range configs {
		for _, workload := range workloads {
			figure := slowdownFigure(name+"-"+config+"-"+workload, fmt.Sprintf("Slowdown at load %s, %s", load,
				title(config, workload)))
			for _, protocol := range f.Protocols(config) {
				s := report.Series{Name: protocol, Protocol: protocol, Look: f.look(protocol), Shape: report.Bars}
				if found := f.At(Place{config, workload, load, protocol, "released"}); len(found) > 0 &&
					found[0].NotCarried() == "" {
					s.Points = bars(found[0])
				}
				figure.Series = append(figure.Series, s)
			}
			list = append(list, figure)
		}
	}
	return list
}

func slowdownFigure(name, title string) report.Figure {
	return report.Figure{
		Name: name, Title: title, Groups: groups, Y: report.Axis{Label: "slowdown", Log: true},
		X: report.Axis{Min: -0.5, Max: float64(len(groups)) - 0.5},
		Caption: "The median, and in a lighter shade the p99, by size: A < 1460 <= B < 100,000 <= C < 800,000 <= D " +
			"bytes. Protocols that do not carry the load are left out. dcPIM's is until the acknowledgement, over a " +
			"round trip, as in its simulator.",
		Parts: []string{"p50", "p99"},
	}
}

// bars are a point's slowdowns by size group.
func bars(p *points.Point) (list []report.Point) {
	slow := slowdowns(p)
	for i, name := range groups {
		if s := slow[name]; s.Count > 0 {
			list = append(list, report.Point{
				X: float64(i), Y: s.P50, High: max(s.P50, s.P99), Hollow: s.Few,
				Note: fmt.Sprintf("%d messages", s.Count),
			})
		}
	}
	return list
}

// of lists the points of a study, of released arrivals and the first seed.
func (f *Found) of(study string, each func(*Job, *points.Point)) {
	for i := range f.Jobs {
		j := &f.Jobs[i]
		if j.Study == study && f.Points[i] != nil && j.Arrivals == "released" && j.Experiment.Seed == 1 {
			each(j, f.Points[i])
		}
	}
}

// bufferCDF draws how deep Homa's queues are for how long, by load, and what buffers
// switches of the paper's table have for as many ports.
func (f *Found) bufferCDF() []report.Figure {
	figure := report.Figure{
		Name: "fig1", Title: "Homa's ToR queues by load, WKc Balanced", X: report.Axis{Label: "ToR queue (MB)"},
		Y:       report.Axis{Label: "share of time", Max: 1},
		Caption: "Vertical lines: the buffers of two switch chips, in proportion to a ToR of 3.2 Tbps.",
	}
	for i, load := range f.Loads("balanced") {
		list := f.At(Place{"balanced", "wkc", load, "homa", "released"})
		if len(list) == 0 {
			continue
		}
		s := report.Series{Name: "load " + load, Look: i, Shape: report.Steps}
		for k, bytes := range list[0].Curves.Queues[results.LeafQueues] {
			s.Points = append(s.Points, report.Point{X: bytes / 1e6, Y: results.CurveRanks[k]})
			figure.X.Max = max(figure.X.Max, bytes/1e6)
		}
		figure.Series = append(figure.Series, s)
	}
	const torTbps = 3.2
	for _, a := range paper.ASICs() {
		if a.Model == "Spectrum SN5600" || a.Model == "Tomahawk 4" {
			buffer := a.MBPerTbps() * torTbps
			figure.Guides = append(figure.Guides, report.Guide{Label: a.Model, X: buffer})
			figure.X.Max = max(figure.X.Max, 1.05*buffer)
		}
	}
	return []report.Figure{figure}
}
