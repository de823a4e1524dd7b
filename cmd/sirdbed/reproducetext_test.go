package main

import (
	"bytes"
	"strings"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// Figures are under the paper's numbers; what several in a row say alike is said once.
func TestFiguresOfResultsText(t *testing.T) {
	var b bytes.Buffer
	writeFigures(&b, []report.Figure{
		{Name: "fig2", Set: "Figure 2. Two", Title: "Two", Caption: "One alone."},
		{Name: "fig6-a", Set: "Figure 6. Six", Title: "A", Caption: "Same."},
		{Name: "fig6-b", Set: "Figure 6. Six", Title: "B", Caption: "Same. More."},
		{Name: "fig13-a", Set: "Figure 13. Last", Title: "D", Caption: "Same."},
	})
	const want = `
## Figures

### Figure 2. Two

One alone.

![Two](plots/fig2.svg)

### Figure 6. Six

Same.

![A](plots/fig6-a.svg)

![B](plots/fig6-b.svg)

More.

### Figure 13. Last

Same.

![D](plots/fig13-a.svg)
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}

// What was not run is said for each round, and a point that studies share counts once in what all took.
func TestResultsSayWhatWasRunAndHowLongItTook(t *testing.T) {
	scale, err := reproduce.FindScale("smoke")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := reproduce.Plan(reproduce.Options{
		Scale: scale, Engine: emu.Model, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 2, Samples: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &reproduce.Found{Jobs: append(jobs, jobs[0]), Points: make([]*points.Point, len(jobs)+1)}
	p := &points.Point{Engine: emu.Model, Experiment: jobs[0].Experiment, Made: &points.Made{Repeated: 1, Of: 2}}
	p.Result.WallSeconds = 600
	f.Points[0], f.Points[len(jobs)] = p, p
	r := &reproduction{o: &reproduceOptions{engine: "model", scale: "smoke", samples: 1}, f: f}
	if r.comparison, err = paper.Compare(&paper.Measured{}); err != nil {
		t.Fatal(err)
	}
	const smoke = "Scale smoke shows that everything runs: its numbers mean nothing."
	if notes := strings.Join(r.notes(), "\n"); notes != smoke {
		t.Errorf("notes %s", notes)
	}
	p.Result.Verdict = results.Degraded
	if notes := strings.Join(r.notes(), "\n"); !strings.Contains(notes, "1 point DEGRADED: trust the figures less.") {
		t.Errorf("notes %s", notes)
	}
	lead, made := strings.Join(r.lead(), "\n"), strings.Join(r.made(), "\n")
	const notRun = "Not run yet: the tables' points at half load, as printed (8); all other points, a third of the " +
		"messages (18); the tables' points at half load with true Poisson arrivals (9); more seeds of the tables' " +
		"points, a third of the messages (9)."
	if !strings.Contains(lead, notRun) {
		t.Errorf("lead %s\nwant %s", lead, notRun)
	}
	for _, want := range []string{"The points took 10 min in all", "Earlier code made 1 of them", "sird 1 of 2"} {
		if !strings.Contains(made, want) {
			t.Errorf("no %q in %s", want, made)
		}
	}
}
