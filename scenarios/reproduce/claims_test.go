package reproduce

import (
	"maps"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/scenarios/paper"
	"sirdbed/topo/units"
)

// whole makes up a point that has all that a point can have.
func whole(j *Job) *points.Point {
	if j.Study == testbedOutcast {
		return outcastPoint(j, func(int) float64 { return 0.4 })
	}
	p := &points.Point{Engine: j.Engine, Experiment: j.Experiment}
	summary := stats.Summary{Count: 1000, P50: 2 * float64(units.Microsecond), P99: 5 * float64(units.Microsecond)}
	slow := results.Slowdowns{}
	for _, group := range groups {
		slow[group] = stats.Summary{Count: 1000, P50: 2, P99: 5}
	}
	curve := make([]float64, len(results.CurveRanks))
	p.Curves.Latency = map[string][]float64{"small": curve, "medium": curve}
	p.Curves.Queues = map[string][]float64{results.DownlinkQueues: curve, results.LeafQueues: curve}
	p.Result = results.VariantSummary{
		GoodputGbps: 50, GoodputBy: map[string]float64{"h1-8": 50},
		LatencyNS: map[string]stats.Summary{"small": summary, "medium": summary},
		Slowdown:  map[string]results.Slowdowns{results.Paper: slow},
		Gauges:    map[string]results.GaugeSummary{"credit_held": {}, "credit_out": {}, "credit_available": {}},
	}
	p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: 1e6, Mean: 5e5}}
	return p
}

// A whole plan has all that claims need: what they call it is what points are called.
func TestAWholePlanHasAllThatClaimsNeed(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	m := madeUp(plan(t, Options{Scale: scale, Seeds: 1}), whole).Measured()
	for _, name := range paper.Wanted() {
		if _, ok := m.Quantities[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	findings, err := paper.Evaluate(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range findings {
		if finding.Verdict == paper.ClaimNotRun {
			t.Errorf("%s lacks %v", finding.Claim.ID, finding.Missing)
		}
	}
}

// Each of the paper's figures has a picture, if all its points are there.
func TestAWholePlanHasAllFigures(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	all := madeUp(plan(t, Options{Scale: scale, Seeds: 1}), whole)
	for _, figure := range all.Figures(all.Measured()) {
		drawn[figureOf(figure.Name)] = true
	}
	want := map[string]bool{}
	for _, name := range FigureNames() {
		if name != "tables" {
			want[figureOf(name)] = true
		}
	}
	if !maps.Equal(drawn, want) {
		t.Errorf("drawn are %v, want %v", drawn, want)
	}
}
