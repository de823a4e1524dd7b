package reproduce

import (
	"fmt"
	"strings"

	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
)

// overview draws the normalized tables, figure 5: a panel for each, by protocol.
func (f *Found) overview(m *paper.Measured) (list []report.Figure) {
	cells := len(paper.Configs) * len(paper.Workloads)
	for _, panel := range []struct{ name, table, title, label string }{
		{"slowdown", paper.P99Slowdown, "Slowdown", "p99 slowdown, times the least"},
		{"goodput", paper.MaxGoodput, "Goodput", "goodput, share of the most"},
		{"queuing", paper.MaxTorQueue, "Queuing", "queue, times the least"},
	} {
		figure := report.Figure{
			Name: "fig5-" + panel.name, Set: "Normalized over nine configurations", Panel: panel.title,
			Y: report.Axis{Label: panel.label, Log: panel.table != paper.MaxGoodput},
			Caption: "p99 slowdown at half load, highest goodput and deepest ToR queue: a cross for each " +
				"configuration and workload, over the best protocol there. In parentheses: how many are unstable, " +
				"and left out.",
		}
		table := paper.Normalize(m, panel.table)
		var lacks []string
		for _, protocol := range f.Protocols("balanced") {
			s := report.Series{Name: protocol, Protocol: protocol, Look: f.look(protocol), Shape: report.Marks}
			run, unstable, at := 0, 0, 0
			for _, config := range paper.Configs {
				for _, workload := range paper.Workloads {
					v, ok := m.Cells[paper.Cell{
						Table: panel.table, Config: config, Workload: workload, Protocol: protocol,
					}]
					if ok {
						run++
					}
					if v.Unstable {
						unstable++
					}
					if y, ok := table.At(config, workload, protocol); ok {
						// Side by side in the group, in the order of the tables.
						x := float64(len(figure.Groups)) + 0.5*(float64(at)/float64(cells-1)-0.5)
						s.Points = append(s.Points, report.Point{X: x, Y: y, Note: title(config, workload)})
					}
					at++
				}
			}
			if run == 0 {
				lacks = append(lacks, protocol)
				continue
			}
			if run < cells {
				lacks = append(lacks, fmt.Sprintf("%s (%d of %d)", protocol, run, cells))
			}
			name := protocol
			if unstable > 0 {
				name += fmt.Sprintf(" (%d)", unstable)
			}
			figure.Groups = append(figure.Groups, name)
			figure.Series = append(figure.Series, s)
		}
		if len(lacks) > 0 {
			figure.Caption += " Not run, or not wholly, so that the best may be another: " +
				strings.Join(lacks, ", ") + "."
		}
		list = append(list, figure)
	}
	return list
}
