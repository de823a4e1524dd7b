package reproduce

import (
	"slices"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
)

// found makes up a plan's points: each has the goodput and the leaves' deepest queue that
// of has for its load.
func found(t *testing.T, o Options, of func(load string) (gbps float64, queue int64)) *Found {
	t.Helper()
	f := &Found{Jobs: plan(t, o)}
	for i := range f.Jobs {
		p := &points.Point{Experiment: f.Jobs[i].Experiment}
		var most int64
		p.Result.GoodputGbps, most = of(f.Jobs[i].Label("load"))
		p.Result.Slowdown = map[string]results.Slowdowns{
			results.Paper: {
				results.AllSizes: stats.Summary{Count: 1, P99: 2}, "C": stats.Summary{Count: fewest, P99: 2},
			},
		}
		p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: most}}
		f.Points = append(f.Points, p)
	}
	return f
}

func TestPointsThatSetAMaximumRunAtFullSize(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 2}
	highest := map[string]float64{"0.9": 2}
	deep := map[string]int64{"0.95": 5}
	f := found(t, o, func(load string) (float64, int64) { return highest[load], deep[load] })
	loads := func() (list []string) {
		jobs, err := f.Maxima(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Study != "core" || j.Label("workload") != "wkb" {
				continue
			}
			list = append(list, j.Label("load"))
			if third := f.Jobs[slices.IndexFunc(f.Jobs, func(k Job) bool { return k.place() == j.place() })]; !j.Full ||
				j.Round != roundMaxima || j.Experiment.Duration < 29*third.Experiment.Duration/10 {
				t.Errorf("at load %s: full %v, round %d, %v after %v", j.Label("load"), j.Full, j.Round,
					j.Experiment.Duration, third.Experiment.Duration)
			}
		}
		return list
	}
	if got := loads(); !slices.Equal(got, []string{"0.9", "0.95"}) {
		t.Errorf("again at loads %v, want the one of the goodput and the one of the queue", got)
	}
	jobs, _ := f.Maxima(o)
	f.Jobs, f.Points = append(f.Jobs, jobs...), append(f.Points, make([]*points.Point, len(jobs))...)
	if got := loads(); len(got) != 0 {
		t.Errorf("with them in the plan, once more at loads %v", got)
	}
	if jobs, _ := f.Maxima(Options{Scale: scale, Figures: []string{"fig8"}}); len(jobs) != 0 {
		t.Errorf("%d points for a figure that has no maximum", len(jobs))
	}
	deep["0.95"], deep["0.9"] = 1, 4
	f = found(t, o, func(load string) (float64, int64) { return highest[load], deep[load] })
	if got := loads(); !slices.Equal(got, []string{"0.9"}) {
		t.Errorf("again at loads %v, want one for both", got)
	}
	highest["0.9"], highest["0.5"] = 0, 3 // which has all messages already
	f = found(t, o, func(load string) (float64, int64) { return highest[load], deep[load] })
	for _, p := range f.Points {
		p.Unbounded = "a leaf's queue grew"
	}
	if got := loads(); len(got) != 0 {
		t.Errorf("again at loads %v, want none: the queue has no bound", got)
	}
	f.Points[0] = nil
	if got, err := f.Maxima(o); err != nil || slices.ContainsFunc(got, func(j Job) bool {
		return j.place().Workload == f.Jobs[0].place().Workload
	}) {
		t.Errorf("%v of a workload of which a point is missing, error %v", got, err)
	}
}

// A point with all messages may fall below one with a third of them: that one has to run with all of
// its messages too.
func TestMaximaAreOfPointsWithAllMessages(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 1}
	thirds := map[string]float64{"0.9": 80, "0.95": 79.5}
	all := map[string]float64{"0.9": 79, "0.95": 78}
	f := found(t, o, func(load string) (float64, int64) { return thirds[load], int64(thirds[load]) })
	for _, want := range []string{"0.9", "0.95", ""} {
		jobs, err := f.Maxima(o)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" != (len(jobs) == 0) {
			t.Fatalf("%d points, want load %q", len(jobs), want)
		}
		for i := range jobs {
			load := jobs[i].Label("load")
			if load != want {
				t.Fatalf("%s at full size, want load %s", jobs[i].Name(), want)
			}
			p := &points.Point{Experiment: jobs[i].Experiment}
			p.Result.GoodputGbps = all[load]
			p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: int64(all[load])}}
			f.Jobs, f.Points = append(f.Jobs, jobs[i]), append(f.Points, p)
		}
	}
	if v, run := f.Goodput("core", "wkb", "sird"); !run || v.Number != 79 {
		t.Errorf("most goodput %v (%v), want 79", v.Number, run)
	}
}
