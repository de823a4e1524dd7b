package reproduce

import (
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
)

// Of the configurations a figure has the points that it draws, and no others.
func TestPlanOfAFigure(t *testing.T) {
	loads := len(Scales[2].loads) // of smoke
	for _, c := range []struct {
		figures []string
		want    int
	}{
		{[]string{"fig1"}, loads}, // of Homa with WKc
		{[]string{"fig5"}, 9 * 6 * loads},
		{[]string{"fig7"}, 3 * 2 * 6},
		{[]string{"fig8"}, 2 * 6},
		{[]string{"fig12"}, 3 * 6},
		{[]string{"fig7", "fig12"}, 9 * 6},
		{[]string{"tables"}, 9*6*loads + 9*6 + 9*6}, // with true Poisson arrivals, and a second seed
	} {
		jobs := plan(t, Options{Figures: c.figures, Seeds: 2})
		if len(jobs) != c.want {
			t.Errorf("%v: %d points, want %d", c.figures, len(jobs), c.want)
		}
	}
	if jobs := plan(t, Options{Figures: []string{"fig2"}}); len(jobs) == 0 ||
		slices.ContainsFunc(jobs, func(j Job) bool { return j.Study != "frontier" }) {
		t.Errorf("fig2 has %d points, or others than its own", len(jobs))
	}
}

// A plan of some loads has no maximum over all of them, whatever its highest is.
func TestNoMaximumOfSomeLoads(t *testing.T) {
	queue := paper.Cell{Table: paper.MaxTorQueue, Config: "balanced", Workload: "wka", Protocol: "sird"}
	slowdown := paper.Cell{Table: paper.P99Slowdown, Config: "balanced", Workload: "wka", Protocol: "sird"}
	for figure, want := range map[string]bool{"fig6": true, "fig7": false} {
		scale, err := FindScale("smoke")
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Scale: scale, Figures: []string{figure}, Protocols: []string{"sird"}, Seeds: 1}
		f := found(t, o, func(string) (float64, int64) { return 40, 1000 })
		m := f.Measured()
		if _, there := m.Cells[queue]; there != want || f.PartialMaxima() == want {
			t.Errorf("%s: the deepest queue is there: %v, left out: %v", figure, there, f.PartialMaxima())
		}
		if _, there := m.Cells[slowdown]; !there {
			t.Errorf("%s has no slowdown", figure)
		}
		drawn := f.Figures(f.Measured())
		queuing := func(f report.Figure) bool { return f.Name == "fig5-queuing" }
		if has := slices.ContainsFunc(drawn, queuing); has != want {
			t.Errorf("%s draws the deepest queues: %v", figure, has)
		}
		for i := range drawn {
			const lacks = "Not run at all loads: sird"
			if strings.HasPrefix(drawn[i].Name, "fig6-") && strings.Contains(drawn[i].Caption, lacks) == want {
				t.Errorf("%s, %s: %s", figure, drawn[i].Name, drawn[i].Caption)
			}
		}
	}
}

// What cannot carry half the load has a maximum over all loads without those between that and the
// highest, once both were run.
func TestLoadsThatAreNotNeeded(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	goodput := paper.Cell{Table: paper.MaxGoodput, Config: "balanced", Workload: "wka", Protocol: "xpass"}
	for name, c := range map[string]struct {
		carries, highest bool // half the load; the highest was run
		needless         int  // of the jobs with WKa in Balanced
	}{
		"it carries half the load":    {true, true, 0},
		"the highest load is missing": {false, false, 0},
		"it does not":                 {false, true, len(loads) - 3},
	} {
		o := Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"xpass"}, Seeds: 1}
		f := found(t, o, func(load string) (float64, int64) { return 30, 1000 })
		for i := range f.Jobs {
			at := f.Jobs[i].place()
			load := at.Load
			if at.Study != "balanced" || at.Workload != "wka" || at.Arrivals == "poisson" {
				continue
			}
			switch {
			case load == Half && !c.carries:
				f.Points[i].Result.Unstable, f.Points[i].Result.OfferedGbps = true, 50
			case load > Half && (load != HighestLoad() || !c.highest):
				f.Points[i] = nil
			}
		}
		n := 0
		for i := range f.Jobs {
			if f.Needless(i) {
				n++
			}
		}
		if n != c.needless || (f.NeedlessJobs() == "") != (n == 0) {
			t.Errorf("%s: %d jobs needless, want %d: %s", name, n, c.needless, f.NeedlessJobs())
		}
		jobs, err := f.Maxima(o)
		full := slices.ContainsFunc(jobs, func(j Job) bool {
			return j.Study == "balanced" && j.Label("workload") == "wka"
		})
		m := f.Measured()
		_, there := m.Cells[goodput]
		if want := n > 0; err != nil || there != want || full && !want {
			t.Errorf("%s: goodput there %v, at full size %v, %v", name, there, full, err)
		}
		if s := m.Quantities["xpass/balanced/wka/load=0.7/p99_slowdown_c"]; s.Unstable != (n > 0) {
			t.Errorf("%s: at 70 %% the slowdown is %+v", name, s)
		}
	}
}
