package reproduce

import (
	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
	"sirdbed/topo/units"
)

// The paper's experiments on its testbed, section 6.1: the scenario incast has three
// variants, and streams of 8 B (small) and 500 KB (medium) requests.

// incastQuantities adds what the claims on the incast need of a variant.
func incastQuantities(m *paper.Measured, variant string, p *points.Point) {
	const head = "sird/testbed/incast/"
	receiver := "receiver=saturated"
	policy := map[string]string{"srpt": "/policy=srpt", "rr": "/policy=srr"}[variant]
	if variant == "unloaded" {
		receiver = "receiver=idle"
	}
	for stream, size := range map[string]string{"small": "size=8b/", "medium": "size=500kb/"} {
		s, ok := p.Result.LatencyNS[stream]
		if !ok || s.Count == 0 {
			continue
		}
		v := paper.Value{Number: s.P50 / float64(units.Microsecond)}
		m.Quantities[head+size+receiver+policy+"/p50_latency_us"] = v
		if variant == "srpt" { // the policy that the paper has where it names none
			m.Quantities[head+size+receiver+"/p50_latency_us"] = v
		}
	}
	if variant == "srpt" {
		bdp := float64(testbedBDP)
		m.Quantities[head+"goodput_gbps"] = paper.Value{Number: p.Result.GoodputBy["h1-8"]}
		m.Quantities[head+"max_downlink_queue_bdp"] = paper.Value{Number: float64(p.Leaves().Max) / bdp}
	}
}

// testbedBDP is that of the scenario, in bytes.
const testbedBDP = 216_912

// incastLatency draws the distributions of both sizes' latency.
func (f *Found) incastLatency() (list []report.Figure) {
	for _, stream := range []struct{ name, what string }{{"small", "8 B"}, {"medium", "500 KB"}} {
		figure := report.Figure{
			Name: "fig3-" + stream.name, Title: "Incast: latency of requests of " + stream.what,
			X: report.Axis{Label: "round trip (us)", Log: true}, Y: report.Axis{Label: "share of requests", Max: 1},
			Caption: "Six senders of 10 MB requests saturate the receiver, by two policies; and without them.",
		}
		f.of(testbedIncast, func(j *Job, p *points.Point) {
			s := report.Series{Name: j.Experiment.Variant, Look: len(figure.Series), Shape: report.Steps}
			for i, ns := range p.Curves.Latency[stream.name] {
				s.Points = append(s.Points, report.Point{X: ns / float64(units.Microsecond), Y: results.CurveRanks[i]})
			}
			figure.Series = append(figure.Series, s)
		})
		list = append(list, figure)
	}
	return list
}
