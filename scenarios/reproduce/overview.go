package reproduce

import (
	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
)

// overview draws the normalized tables against each other, figure 5.
func (f *Found) overview(m *paper.Measured) (list []report.Figure) {
	tables := map[string]*paper.Normalized{}
	for _, t := range paper.PrintedTables {
		tables[t] = paper.Normalize(m, t)
	}
	for _, pair := range []struct{ name, x, y, xLabel, yLabel string }{
		{"slowdown", paper.MaxTorQueue, paper.MaxGoodput, "queue, times the least", "goodput, share of the most"},
		{"goodput", paper.MaxTorQueue, paper.P99Slowdown, "queue, times the least", "p99 slowdown, times the least"},
		{"queuing", paper.MaxGoodput, paper.P99Slowdown, "goodput, share of the most", "p99 slowdown, times the least"},
	} {
		figure := report.Figure{
			Name: "fig5-" + pair.name, Title: "Overview: " + pair.yLabel + ", by " + pair.xLabel,
			X: report.Axis{Label: pair.xLabel, Log: pair.x == paper.MaxTorQueue}, Y: report.Axis{Label: pair.yLabel,
				Log: pair.y == paper.P99Slowdown},
			Caption: "A cross for each configuration and workload, over the best protocol there; unstable ones are " +
				"left out.",
		}
		for _, row := range tables[pair.x].Rows {
			s := report.Series{
				Name: row.Protocol, Protocol: row.Protocol, Look: f.look(row.Protocol), Shape: report.Marks,
			}
			for _, config := range paper.Configs {
				for _, workload := range paper.Workloads {
					x, ok1 := tables[pair.x].At(config, workload, row.Protocol)
					y, ok2 := tables[pair.y].At(config, workload, row.Protocol)
					if ok1 && ok2 {
						s.Points = append(s.Points, report.Point{X: x, Y: y, Note: title(config, workload)})
					}
				}
			}
			figure.Series = append(figure.Series, s)
		}
		list = append(list, figure)
	}
	return list
}
