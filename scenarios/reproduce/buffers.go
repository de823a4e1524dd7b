package reproduce

import (
	"fmt"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
)

// bufferCDF draws how deep Homa's queues are for how long, by load, and what buffers switches of the
// paper's table have: one port's share of it, and all that a ToR has, in proportion to its links.
func (f *Found) bufferCDF() (list []report.Figure) {
	const portTbps, torTbps = 0.1, 3.2
	for _, panel := range []struct {
		name, title, label, queue string
		tbps                      float64
	}{
		{"port", "downlinks", "downlink queue (MB)", results.DownlinkQueues, portTbps},
		{"tor", "ToRs", "ToR queue (MB)", results.LeafQueues, torTbps},
	} {
		figure := report.Figure{
			Name: "fig1-" + panel.name, Set: "Homa's queues, WKc Balanced", Panel: panel.title,
			X: report.Axis{Label: panel.label}, Y: report.Axis{Label: "share of time", Max: 1}, Shares: true,
			Caption: fmt.Sprintf("Vertical lines: the buffers of two switch chips, in proportion to %g Tbps.",
				panel.tbps),
		}
		for i, load := range f.Loads("balanced") {
			list := f.At(Place{"balanced", "wkc", load, "homa", "released"})
			if len(list) == 0 {
				continue
			}
			s := report.Series{Name: "load " + load, Look: i, Shape: report.Steps}
			for k, bytes := range list[0].Curves.Queues[panel.queue] {
				s.Points = append(s.Points, report.Point{X: bytes / 1e6, Y: results.CurveRanks[k]})
				figure.X.Max = max(figure.X.Max, bytes/1e6)
			}
			figure.Series = append(figure.Series, s)
		}
		for _, a := range paper.ASICs() {
			if a.Model == "Spectrum SN5600" || a.Model == "Tomahawk 4" {
				buffer := a.MBPerTbps() * panel.tbps
				figure.Guides = append(figure.Guides, report.Guide{Label: a.Model, X: buffer})
				figure.X.Max = max(figure.X.Max, 1.05*buffer)
			}
		}
		list = append(list, figure)
	}
	return list
}
