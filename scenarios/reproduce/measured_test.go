package reproduce

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

// sensitive makes up the points of figure 9: of the highest goodput at the load that it is
// for of SThr, with as much credit at receivers as is at lower loads.
func sensitive(t *testing.T, best func(sthr string) string) *Found {
	t.Helper()
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	return madeUp(plan(t, Options{Scale: scale, Figures: []string{"fig9"}}), func(j *Job) *points.Point {
		p := &points.Point{Experiment: j.Experiment}
		gauge := func(bdps float64) results.GaugeSummary { return results.GaugeSummary{Mean: bdps * paperBDP} }
		p.Result.GoodputGbps, p.Result.Gauges = 60, map[string]results.GaugeSummary{
			"credit_available": gauge(0.8), "credit_held": gauge(0.1), "credit_out": gauge(0.7),
		}
		if j.Label("load") == best(j.Label("sthr")) {
			p.Result.GoodputGbps = 80
			p.Result.Gauges["credit_available"] = gauge(0.2)
			p.Result.Gauges["credit_held"] = gauge(0.4)
			p.Result.Gauges["credit_out"] = gauge(1.3)
		}
		return p
	})
}

// Where credit is, is said of the load with the most goodput: at lower ones receivers have
// more of it left.
func TestCreditIsOfTheLoadWithTheMostGoodput(t *testing.T) {
	f := sensitive(t, func(sthr string) string {
		if sthr == "inf" {
			return "0.6"
		}
		return "0.95"
	})
	q := f.Measured().Quantities
	for _, sthr := range []string{"/defaults", "/sthr=1bdp", "/sthr=inf"} {
		for figure, want := range map[string]float64{
			"credit_at_receivers_bdp": 0.2, "credit_at_senders_bdp": 0.4, "credit_in_flight_bdp": 0.9,
		} {
			name := "sird/balanced/wkc" + sthr + "/" + figure
			if got, ok := q[name]; !ok || math.Abs(got.Number-want) > 1e-9 {
				t.Errorf("%s is %v (there: %v), want %v", name, got.Number, ok, want)
			}
		}
	}
	figures := f.Figures(f.Measured())
	i := slices.IndexFunc(figures, func(f report.Figure) bool { return f.Name == "fig9-credit" })
	if i < 0 {
		t.Fatalf("figures %s", names(figures))
	}
	if got := strings.Join(figures[i].Groups, "; "); got != "SThr 0.5; SThr 1; SThr inf" {
		t.Errorf("groups %s", got)
	}
	for k, want := range []float64{0.4, 0.9, 0.2} {
		for _, p := range figures[i].Series[k].Points {
			if math.Abs(p.Y-want) > 1e-9 {
				t.Errorf("%s: %v BDP at %v, want %v", figures[i].Series[k].Name, p.Y, p.X, want)
			}
		}
	}
}

// The most of all loads is known of a setting when its own points at all loads are there.
func TestMaximaOfASettingAreOfItsOwnLoads(t *testing.T) {
	f := sensitive(t, func(string) string { return "0.95" })
	at := func(name string) bool {
		_, ok := f.Measured().Quantities["sird/balanced/wkc/"+name]
		return ok
	}
	for _, name := range []string{"b=2bdp/max_goodput_gbps", "b=3bdp/max_goodput_gbps"} {
		if !at(name) {
			t.Errorf("no %s", name)
		}
	}
	f.Points[slices.IndexFunc(f.Jobs, func(j Job) bool {
		return j.Label("b") == "2" && j.Label("sthr") == "0.5" && j.Label("load") == "0.95"
	})] = nil
	if at("b=2bdp/max_goodput_gbps") || !at("b=3bdp/max_goodput_gbps") {
		t.Errorf("without one load of B = 2 BDP: its goodput %v, that of 3 BDP %v, want the latter alone",
			at("b=2bdp/max_goodput_gbps"), at("b=3bdp/max_goodput_gbps"))
	}
}
