package reproduce

import (
	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// The paper's experiments on its testbed, section 6.1, as studies.
const (
	testbedIncast  = "testbed-incast"
	testbedCubic   = "testbed-incast-cubic"
	testbedOutcast = "testbed-outcast"
)

// A testbed is what of a scenario a study on the paper's testbed runs, whatever the scale
// of the fabrics: its times are the scenario's own, and it has one seed.
type testbed struct {
	scenario string
	engine   emu.EngineName // "": that of the plan
	variants []string       // none: all
	changes  []scenarios.Change
}

var (
	// incast has streams of 8 B (small) and 500 KB (medium) requests.
	incastTestbed = testbed{scenario: "incast"}
	// cubicTestbed is the same by the kernel's TCP, which the model has not.
	cubicTestbed = testbed{
		scenario: "incast-protocols", engine: emu.Virtual, variants: []string{"unloaded-tcp-cubic", "loaded-tcp-cubic"},
	}
	// A stage without receivers comes first; each takes some parts of a Course, 4 ms each,
	// and several messages to each receiver.
	outcastTestbed = testbed{scenario: "outcast", changes: []scenarios.Change{
		{Path: "traffic[outcast].start", Value: "20ms"}, {Path: "traffic[outcast].stagger", Value: "40ms"},
		{Path: "duration", Value: "160ms"},
	}}
)

// grid makes a grid that of a testbed, with the changes of a scale.
func (b *testbed) grid(g *sweep.Grid, changes []scenarios.Change) {
	g.Path, g.Variants = b.scenario, b.variants
	g.Changes = append(append(g.Changes, b.changes...), changes...)
	if b.engine != "" {
		g.Engine = b.engine
	}
}

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

// cubicQuantities adds the median of the kernel's TCP.
func cubicQuantities(m *paper.Measured, variant string, p *points.Point) {
	receiver := map[string]string{"unloaded-tcp-cubic": "idle", "loaded-tcp-cubic": "saturated"}[variant]
	if s := p.Result.LatencyNS["small"]; s.Count > 0 {
		m.Quantities["tcp-cubic/testbed/incast/size=8b/receiver="+receiver+"/p50_latency_us"] =
			paper.Value{Number: s.P50 / float64(units.Microsecond)}
	}
}

// testbedBDP is that of the scenario, in bytes.
const testbedBDP = 216_912

// incastNames are the variants of the scenarios as the paper's figure calls them, in its order.
var incastNames = []struct{ study, variant, name string }{
	{testbedIncast, "unloaded", "SIRD, unloaded"},
	{testbedIncast, "srpt", "SIRD, incast, SRPT"},
	{testbedIncast, "rr", "SIRD, incast, SRR"},
	{testbedCubic, "unloaded-tcp-cubic", "TCP Cubic, unloaded"},
	{testbedCubic, "loaded-tcp-cubic", "TCP Cubic, incast"},
}

// incastLatency draws the distributions of both sizes' latency, and that of the kernel's
// TCP beside them, which the paper has in its text.
func (f *Found) incastLatency() (list []report.Figure) {
	saturated := "Six senders of 10 MB requests saturate the receiver, "
	if figure, _ := f.latencies("small", false); len(figure.Series) > 0 {
		figure.Name, figure.Panel = "fig3-small", "requests of 8 B"
		figure.Caption = saturated + "by two policies; and without them."
		list = append(list, figure)
	}
	if figure, _ := f.latencies("medium", false); len(figure.Series) > 0 {
		figure.Name, figure.Panel = "fig3-medium", "requests of 500 KB"
		figure.Caption = saturated + "by two policies; and without them."
		list = append(list, figure)
	}
	if figure, cubic := f.latencies("small", true); cubic {
		figure.Name, figure.Panel, figure.X.Log = "fig3-cubic", "8 B beside kernel TCP", true
		figure.Caption = saturated + "and without them; by SIRD, and by TCP of the Linux kernel (engine virtual)."
		figure.Guides = []report.Guide{{Label: "paper: median over 1 ms", X: 1000}}
		list = append(list, figure)
	}
	return list
}

// latencies draws the distributions of a stream's latency without the panel's name, and reports
// whether the kernel's TCP, if asked for, is among them.
func (f *Found) latencies(stream string, cubic bool) (figure report.Figure, found bool) {
	figure = report.Figure{
		Set: "Latency under incast", Shares: true,
		X: report.Axis{Label: "round trip (us)"}, Y: report.Axis{Label: "share of requests", Max: 1},
	}
	for look, v := range incastNames {
		if v.study == testbedCubic && !cubic {
			continue
		}
		f.of(v.study, func(j *Job, p *points.Point) {
			curve := p.Curves.Latency[stream]
			if j.Experiment.Variant != v.variant || len(curve) == 0 {
				return
			}
			found = found || v.study == testbedCubic
			s := report.Series{Name: v.name, Look: look, Shape: report.Line}
			for i, ns := range curve {
				s.Points = append(s.Points, report.Point{X: ns / float64(units.Microsecond), Y: results.CurveRanks[i]})
			}
			figure.Series = append(figure.Series, s)
			low, high := s.Points[0].X, s.Points[len(s.Points)-1].X
			if figure.X.Max == 0 {
				figure.X.Min = 0.9 * low
			}
			figure.X.Min, figure.X.Max = min(figure.X.Min, 0.9*low), max(figure.X.Max, 1.1*high)
		})
	}
	return figure, found
}
