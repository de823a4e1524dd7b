package reproduce

import (
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
)

// figureOf is the paper's figure that one of a name of Figures is a panel of: "Figure 6" of
// "fig6-core-wkc".
func figureOf(name string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "fig"), "-")
	return "Figure " + number
}

// Figures draws the paper's figures of what was found, in its order; m is Measured's. Those of
// which nothing was found are left out.
func (f *Found) Figures(m *paper.Measured) (list []report.Figure) {
	for _, set := range []struct {
		across int // panels beside each other
		draw   func() []report.Figure
	}{
		{2, f.bufferCDF}, {2, f.frontier}, {3, f.incastLatency}, {2, f.outcastCredit},
		{3, func() []report.Figure { return f.overview(m) }},
		{3, func() []report.Figure {
			return f.queueByGoodput("fig6", "Deepest ToR queue by goodput", true, deepest)
		}},
		{2, func() []report.Figure { return f.slowdownBars("fig7", Half, []string{"wka", "wkc"}, paper.Configs) }},
		{2, func() []report.Figure {
			return f.slowdownBars("fig8", barsLoad, []string{"wka", "wkc"}, []string{"balanced"})
		}},
		{2, func() []report.Figure { return append(f.sensitivity(), f.creditLocation()...) }},
		{2, func() []report.Figure { return f.overSetting("fig10", "unscheduled", "unscht", "UnschT") }},
		{2, func() []report.Figure { return f.overSetting("fig11", "priorities", "priorities", "priorities") }},
		{3, func() []report.Figure { return f.slowdownBars("fig12", Half, []string{"wkb"}, paper.Configs) }},
		{3, func() []report.Figure {
			return f.queueByGoodput("fig13", "Mean ToR queue by goodput", false, average)
		}},
	} {
		for _, figure := range set.draw() {
			if slices.ContainsFunc(figure.Series, func(s report.Series) bool { return len(s.Points) > 0 }) {
				figure.Set, figure.Across = figureOf(figure.Name)+". "+figure.Set, set.across
				figure.Title = figure.Set
				if figure.Panel != "" {
					figure.Title += ", " + figure.Panel
				}
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
// workload, and if asked for crosses at the printed maxima.
func (f *Found) queueByGoodput(
	name, what string, crosses bool, queue func(*points.Point) float64,
) (list []report.Figure) {
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			figure := report.Figure{
				Name: name + "-" + config + "-" + workload, Set: what, Panel: title(config, workload),
				X: report.Axis{Label: "goodput (Gbps/host)"}, Y: report.Axis{Label: "queue (MB)", Log: true},
				Caption: "A point for each load. The queue is the sum over a leaf's ports; a hollow point carries " +
					"less than is offered.",
			}
			if crosses {
				figure.Caption += " A cross is at the two maxima that the paper prints, which may be of different " +
					"loads; what it has as unstable has none."
			}
			var lacks []string      // protocols that are not run at all loads
			steady, all := 0.0, 0.0 // the deepest of queues that do not grow, and of all
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
					if all = max(all, queue(p)); p.QueueGrows() == "" {
						steady = max(steady, queue(p))
					}
				}
				if len(s.Points) > 0 {
					figure.Series = append(figure.Series, s)
				}
				if len(s.Points) < len(f.Loads(config)) || !f.hasHighest(config, workload, protocol) {
					lacks = append(lacks, protocol)
				} else if crosses {
					mark := f.printedMaximum(config, workload, protocol)
					for _, p := range mark.Points {
						steady, all = max(steady, p.Y), max(all, p.Y)
					}
					figure.Series = append(figure.Series, mark)
				}
			}
			if len(lacks) > 0 {
				figure.Caption += " Not run at all loads: " + strings.Join(lacks, ", ") + "."
			}
			if steady > 0 && all > steady {
				figure.Y.Max = 1.6 * steady
				figure.Caption += " A line that leaves the frame goes to a queue that grows as long as the run."
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
