package reproduce

import (
	"slices"
	"testing"

	"sirdbed/scenarios/paper"
)

// The most of all loads is known when all loads are.
func TestMaximaAreOfAllLoads(t *testing.T) {
	scale, err := FindScale("smoke")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 1}
	f := found(t, o, func(load string) (float64, int64) { return map[string]float64{"0.5": 7, "0.95": 9}[load], 1 })
	cell := paper.Cell{Table: paper.MaxGoodput, Config: "core", Workload: "wka", Protocol: "sird"}
	if got := f.Measured().Cells[cell].Number; got != 9 {
		t.Errorf("the highest goodput is %v, want 9", got)
	}
	missing := slices.IndexFunc(f.Jobs, func(j Job) bool {
		return j.place() == Place{"core", "wka", "0.7", "sird", "released"}
	})
	f.Points[missing] = nil
	if v, ok := f.Measured().Cells[cell]; ok {
		t.Errorf("without load 0.7 the highest goodput is %v, want none", v.Number)
	}
	cell.Table = paper.P99Slowdown
	if _, ok := f.Measured().Cells[cell]; !ok {
		t.Error("without load 0.7 there is no slowdown at 0.5")
	}
}

// A queue that grows without bound at any load makes the deepest and the mean queue of all
// loads unstable, and no goodput.
func TestQueuesThatGrowAreUnstable(t *testing.T) {
	f := found(t, Options{Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 1},
		func(string) (float64, int64) { return 50, 1e6 })
	f.Points[slices.IndexFunc(f.Jobs, func(j Job) bool {
		return j.place() == Place{"core", "wka", "0.7", "sird", "released"}
	})].Unbounded = "it grew"
	m := f.Measured()
	for table, want := range map[string]bool{
		paper.MaxTorQueue: true, paper.MeanTorQueue: true, paper.MaxGoodput: false, paper.P99Slowdown: false,
	} {
		for _, workload := range []string{"wka", "wkb"} {
			cell := paper.Cell{Table: table, Config: "core", Workload: workload, Protocol: "sird"}
			if v, ok := m.Cells[cell]; !ok || v.Unstable != (want && workload == "wka") {
				t.Errorf("%v: %+v (there: %v)", cell, v, ok)
			}
		}
	}
}

// Points without a message have no slowdown, and keep nobody from comparing the others.
func TestSlowdownOfNoMessages(t *testing.T) {
	scale, err := FindScale("smoke")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 2}
	f := found(t, o, func(string) (float64, int64) { return 1, 1 })
	for i, p := range f.Points {
		if f.Jobs[i].Study == "core" || f.Jobs[i].Study == "incast" && p.Experiment.Seed == 2 {
			p.Result.Slowdown = nil
		}
	}
	m := f.Measured()
	if _, err := paper.Compare(m); err != nil {
		t.Error(err)
	}
	cell := paper.Cell{Table: paper.P99Slowdown, Config: "core", Workload: "wka", Protocol: "sird"}
	if v, ok := m.Cells[cell]; ok {
		t.Errorf("without messages the slowdown is %v, want none", v.Number)
	}
	cell.Config = "incast"
	if v := m.Cells[cell]; v.Number != 2 || len(v.Seeds) != 1 {
		t.Errorf("with messages of one seed of two the slowdown is %v, want 2 of that seed alone", v)
	}
}
