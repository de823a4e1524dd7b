package reproduce

import (
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/scenarios/paper"
)

// longestTitle is how many letters a picture has room for.
const longestTitle = 55

func checkTitles(t *testing.T, figures []report.Figure) {
	t.Helper()
	for _, f := range figures {
		if len(f.Title) > longestTitle {
			t.Errorf("%s: the picture has no room for %q", f.Name, f.Title)
		}
	}
}

// panel is the figure of a name.
func panel(t *testing.T, figures []report.Figure, name string) *report.Figure {
	t.Helper()
	i := slices.IndexFunc(figures, func(f report.Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no %s among %s", name, names(figures))
	}
	return &figures[i]
}

// A protocol of a user's own is in every figure that compares protocols, in a color of its own.
func TestOwnProtocolsAreInTheFigures(t *testing.T) {
	f := found(t, Options{Figures: []string{"tables"}, Protocols: []string{"+aimd"}, Seeds: 1},
		func(load string) (float64, int64) {
			return map[string]float64{"0.5": 40, "0.7": 60, "0.95": 70}[load], 1e6
		})
	figures := f.Figures(f.Measured())
	for _, name := range []string{"fig5-slowdown", "fig6-balanced-wka", "fig13-core-wkc"} {
		i := slices.IndexFunc(figures, func(f report.Figure) bool { return f.Name == name })
		if i < 0 {
			t.Errorf("no %s among %s", name, names(figures))
			continue
		}
		colors := map[int]string{}
		for _, s := range figures[i].Series {
			if other, taken := colors[s.Look]; taken && other != s.Name {
				t.Errorf("%s: %s has the color of %s", name, s.Name, other)
			}
			colors[s.Look] = s.Name
			if len(s.Points) == 0 && s.Shape != report.Marks {
				t.Errorf("%s: %s has no points", name, s.Name)
			}
		}
		if !slices.ContainsFunc(figures[i].Series, func(s report.Series) bool {
			return s.Name == "aimd" && len(s.Points) > 0
		}) {
			t.Errorf("%s has no aimd: %s", name, seriesNames(&figures[i]))
		}
	}
}

// A protocol that was not run is told from one that does not carry the load, and a figure from one of
// which nothing is missing.
func TestFiguresSayWhatIsMissing(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	f := madeUp(plan(t, Options{Scale: scale, Figures: []string{"tables"}, Seeds: 1}), func(j *Job) *points.Point {
		p := &points.Point{Experiment: j.Experiment}
		p.Result.GoodputGbps, p.Result.OfferedGbps = 50, 50
		p.Result.Slowdown = map[string]results.Slowdowns{results.Paper: {
			"A": stats.Summary{Count: 1, P50: 1, P99: 3}, "B": stats.Summary{Count: 90, P50: 1, P99: 3},
			results.AllSizes: stats.Summary{Count: 200, P50: 1, P99: 2},
		}}
		p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: 1e6, Mean: 1e5}}
		switch load := j.Label("load"); {
		case j.Experiment.Protocol == "xpass", j.Experiment.Protocol == "swift" && load == "0.7":
			return nil
		case j.Experiment.Protocol == "dcpim":
			p.Result.GoodputGbps, p.Result.Unstable = 30, true
		}
		return p
	})
	figures := f.Figures(f.Measured())
	checkTitles(t, figures)
	bars := panel(t, figures, "fig7-balanced-wka")
	for _, want := range []string{"does not carry the load: dcpim.", "Not run: xpass."} {
		if !strings.Contains(bars.Caption, want) {
			t.Errorf("%s: no %q in %q", bars.Name, want, bars.Caption)
		}
	}
	if got := seriesNames(bars); strings.Contains(got, "xpass") || strings.Contains(got, "dcpim") {
		t.Errorf("%s has %s", bars.Name, got)
	}
	if got := strings.Join(bars.Groups, "; "); got != "A 0.5 %; B 45 %; C; D; all" {
		t.Errorf("%s: groups %s", bars.Name, got)
	}
	// WKc has no messages of less than a packet.
	if got := panel(t, figures, "fig7-balanced-wkc").Groups; got[0] != "B 45 %" {
		t.Errorf("the first group of WKc is %s", got[0])
	}
	queues := panel(t, figures, "fig6-core-wkb")
	if !strings.Contains(queues.Caption, "Not run at all loads: swift, xpass.") {
		t.Errorf("%s: caption %q", queues.Name, queues.Caption)
	}
	for _, s := range queues.Series {
		if s.Shape == report.Marks && (s.Protocol == "swift" || s.Protocol == "xpass") {
			t.Errorf("%s: a cross of %s, which was not run at all loads", queues.Name, s.Name)
		}
	}
	overview := panel(t, figures, "fig5-slowdown")
	if got := strings.Join(overview.Groups, "; "); got != "dctcp; swift; homa; dcpim (9); sird" ||
		!strings.Contains(overview.Caption, "another: xpass.") {
		t.Errorf("%s: groups %s, caption %q", overview.Name, got, overview.Caption)
	}
}

// What grows as long as the run leaves the frame, so that the others can be told apart.
func TestGrowingQueuesLeaveTheFrame(t *testing.T) {
	f := found(t, Options{Figures: []string{"tables"}, Seeds: 1}, func(load string) (float64, int64) {
		return 50, map[string]int64{"0.95": 1e9}[load] + 1e6
	})
	for _, p := range f.Points {
		if deep := p.Result.QueueBytes.Switches["leaf1"].Max > 1e6; deep && p.Experiment.Protocol == "dctcp" {
			p.Unbounded = "a queue grew"
		} else if deep {
			p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: 20e6}}
		}
	}
	figure := panel(t, f.Figures(f.Measured()), "fig6-balanced-wkb")
	if figure.Y.Max < 20 || figure.Y.Max > 100 || !strings.Contains(figure.Caption, "leaves the frame") {
		t.Errorf("up to %v MB, caption %q", figure.Y.Max, figure.Caption)
	}
	svg, err := figure.SVG()
	if err != nil || strings.Contains(string(svg), "NaN") {
		t.Errorf("the picture: %v", err)
	}
}

// Settings are compared by points of one length, also where the tables have a longer one of the defaults.
func TestSettingsAreComparedAtOneLength(t *testing.T) {
	scale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	f := madeUp(plan(t, Options{Scale: scale, Figures: []string{"fig2", "fig9", "tables"}, Seeds: 1}),
		func(j *Job) *points.Point {
			p := &points.Point{Experiment: j.Experiment}
			p.Result.GoodputGbps = 70
			p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: 3e6, Mean: 2e6}}
			return p
		})
	// What Maxima adds later.
	i := slices.IndexFunc(f.Jobs, func(j Job) bool {
		return j.place() == Place{"balanced", "wkc", "0.95", "sird", "released"}
	})
	full := f.Jobs[i]
	full.Full, full.Round = true, roundMaxima
	p := &points.Point{Experiment: full.Experiment}
	p.Result.GoodputGbps = 80
	p.Result.QueueBytes.Switches = map[string]results.QueueStats{"leaf1": {Max: 1e6, Mean: 0.5e6}}
	f.Jobs, f.Points = append(f.Jobs, full), append(f.Points, p)

	m := f.Measured()
	for name, want := range map[string]float64{"defaults/goodput_gbps": 70, paper.MaxTorQueue: 3} {
		if got := m.Quantities["sird/balanced/wkc/load=0.95/"+name].Number; got != want {
			t.Errorf("%s beside other settings or protocols is %v, want %v", name, got, want)
		}
	}
	for table, want := range map[string]float64{paper.MaxGoodput: 80, paper.MaxTorQueue: 3} {
		cell := paper.Cell{Table: table, Config: "balanced", Workload: "wkc", Protocol: "sird"}
		if got := m.Cells[cell].Number; got != want {
			t.Errorf("%s in the table is %v, want %v", table, got, want)
		}
	}
	figures := f.Figures(f.Measured())
	checkTitles(t, figures)
	for _, want := range []struct {
		figure, series, note string
		x, y                 float64
	}{{"fig2", "sird", "B1.5", 70, 2}, {"fig9-goodput", "SThr 0.5 BDP", "", 1.5, 70}} {
		figure := panel(t, figures, want.figure)
		ok := slices.ContainsFunc(figure.Series, func(s report.Series) bool {
			return s.Name == want.series && slices.ContainsFunc(s.Points, func(p report.Point) bool {
				return p.Note == want.note && p.X == want.x && p.Y == want.y
			})
		})
		if !ok {
			t.Errorf("%s has no point of %s at %v, %v: %v", want.figure, want.series, want.x, want.y,
				figure.Series[0].Points)
		}
	}
}

// Protocols are compared at a load by points of one length, also where one was run again with all messages.
func TestProtocolsAreComparedAtOneLength(t *testing.T) {
	scale, err := FindScale("small")
	if err != nil {
		t.Fatal(err)
	}
	of := func(messages int) func(*Job) *points.Point {
		return func(j *Job) *points.Point {
			p := &points.Point{Experiment: j.Experiment}
			p.Result.Slowdown = map[string]results.Slowdowns{
				results.Paper: {results.AllSizes: stats.Summary{Count: messages, P50: 1, P99: 2, Few: messages < 100}},
			}
			return p
		}
	}
	f := madeUp(plan(t, Options{Scale: scale, Figures: []string{"fig8"}, Seeds: 1}), of(1000))
	longer := f.Jobs[slices.IndexFunc(f.Jobs, func(j Job) bool {
		return j.place() == Place{"balanced", "wkc", barsLoad, "homa", "released"}
	})]
	longer.Full, longer.Round = true, roundMaxima
	f.Jobs, f.Points = append([]Job{longer}, f.Jobs...), append([]*points.Point{of(3000)(&longer)}, f.Points...)

	bars := panel(t, f.Figures(f.Measured()), "fig8-balanced-wkc")
	if len(bars.Series) != len(PaperProtocols) {
		t.Errorf("series %s", seriesNames(bars))
	}
	for _, s := range bars.Series {
		if len(s.Points) != 1 || s.Points[0].Note != "1000 messages" {
			t.Errorf("%s has %v, want 1000 messages", s.Name, s.Points)
		}
	}
	if strings.Contains(bars.Caption, report.HatchedBar) {
		t.Errorf("no bar is hatched, and the caption is %q", bars.Caption)
	}
	f = madeUp(plan(t, Options{Scale: scale, Figures: []string{"fig8"}, Seeds: 1}), of(99))
	bars = panel(t, f.Figures(f.Measured()), "fig8-balanced-wkc")
	if strings.Count(bars.Caption, report.HatchedBar) != 1 {
		t.Errorf("all bars are hatched, and the caption is %q", bars.Caption)
	}
}
