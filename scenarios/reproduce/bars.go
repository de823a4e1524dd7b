package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
)

// The figures of median and p99 slowdown by size group.

// groups are the size groups of the paper's figures.
var groups = []string{"A", "B", "C", "D", results.AllSizes}

// groupsOf are those of a workload's figures. The smallest messages of WKc are of one packet of 1442
// bytes, which the paper counts as a whole MSS.
func groupsOf(workload string) []string {
	if workload == "wkc" {
		return groups[1:]
	}
	return groups
}

// slowdownBars draws median and p99 by size group at a load.
func (f *Found) slowdownBars(name, load string, workloads, configs []string) (list []report.Figure) {
	for _, config := range configs {
		for _, workload := range workloads {
			figure := slowdownFigure(name+"-"+config+"-"+workload, workload)
			figure.Set, figure.Panel = "Slowdown at load "+load, title(config, workload)
			var lacks, cannot []string
			for _, protocol := range f.Protocols(config) {
				found := f.ofOneLength(Place{config, workload, load, protocol, "released"})
				if found == nil {
					lacks = append(lacks, protocol)
					continue
				}
				if found.NotCarried() != "" {
					cannot = append(cannot, protocol)
					continue
				}
				if protocol == "dcpim" {
					figure.Caption += " dcpim's is until the acknowledgement, over a round trip, as in its simulator."
				}
				addBars(&figure, workload, found, report.Series{
					Name: protocol, Protocol: protocol, Look: f.look(protocol),
				})
			}
			if len(cannot) > 0 {
				figure.Caption += " Left out, since it does not carry the load: " + strings.Join(cannot, ", ") + "."
			}
			if len(lacks) > 0 {
				figure.Caption += " Not run: " + strings.Join(lacks, ", ") + "."
			}
			list = append(list, figure)
		}
	}
	return list
}

// overSetting draws slowdowns over one of SIRD's settings, at half load.
func (f *Found) overSetting(name, study, axis, what string) (list []report.Figure) {
	for _, workload := range []string{"wka", "wkc"} {
		figure := slowdownFigure(name+"-"+workload, workload)
		figure.Set, figure.Panel = "SIRD by "+what+", load "+Half, title("balanced", workload)
		f.of(study, func(j *Job, p *points.Point) {
			if j.Label("workload") == workload && j.Label("load") == Half {
				addBars(&figure, workload, p, report.Series{
					Name: what + " " + settingName(axis, j.Label(axis)), Look: len(figure.Series),
				})
			}
		})
		list = append(list, figure)
	}
	return list
}

// settingName is a value of a setting as the paper's figures have it.
func settingName(axis, value string) string {
	switch {
	case axis != "unscht" || value == "inf":
		return value
	case value == unschtMSS:
		return "MSS"
	}
	return value + " BDP"
}

// slowdownFigure is a figure of a workload without its bars.
func slowdownFigure(name, workload string) report.Figure {
	own := groupsOf(workload)
	caption := "The median, and in a lighter shade the p99, by size, with the share of messages: A < 1460 <= B < " +
		"100,000 <= C < 800,000 <= D bytes."
	if len(own) < len(groups) {
		caption += " A, messages of a single packet, is left out, as in the paper."
	}
	return report.Figure{
		Name: name, Groups: slices.Clone(own), Y: report.Axis{Label: "slowdown", Log: true},
		X: report.Axis{Min: -0.5, Max: float64(len(own)) - 0.5}, Caption: caption, Parts: []string{"p50", "p99"},
	}
}

// addBars adds a point's slowdowns by size group to a figure, which takes the shares of groups from
// its first point.
func addBars(figure *report.Figure, workload string, p *points.Point, s report.Series) {
	s.Shape = report.Bars
	slow := slowdowns(p)
	for i, name := range groupsOf(workload) {
		group := slow[name]
		if group.Count == 0 {
			continue
		}
		s.Points = append(s.Points, report.Point{
			X: float64(i), Y: group.P50, High: max(group.P50, group.P99), Hollow: group.Few,
			Note: fmt.Sprintf("%d messages", group.Count),
		})
		if len(figure.Series) == 0 && name != results.AllSizes {
			figure.Groups[i] = name + " " + share(group, slow[results.AllSizes])
		}
	}
	figure.Series = append(figure.Series, s)
	few := slices.ContainsFunc(s.Points, func(p report.Point) bool { return p.Hollow })
	if few && !strings.Contains(figure.Caption, report.HatchedBar) {
		figure.Caption += " " + report.HatchedBar + "."
	}
}

// share is how many of all messages are in a group.
func share(group, all stats.Summary) string {
	percent := 100 * float64(group.Count) / float64(max(1, all.Count))
	switch {
	case percent < 0.1:
		return "<0.1 %"
	case percent < 9.95:
		return fmt.Sprintf("%.1f %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}
