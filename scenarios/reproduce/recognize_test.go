package reproduce

import (
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/scenarios/paper"
)

// experiments are those of a scenario with some changes.
func experiments(t *testing.T, name string, changes ...scenarios.Change) []emu.Experiment {
	t.Helper()
	s, err := scenarios.Load(name, changes...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Experiments(scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Every point of the tables is recognized by what it is, at every scale, whatever its load
// and workload, and nothing else of the evaluation is taken for one.
func TestPlacesAreThoseOfThePlan(t *testing.T) {
	for i := range Scales {
		jobs, err := Plan(Options{Scale: &Scales[i], Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k := range jobs {
			j := &jobs[k]
			got, ok := PlaceOf(&j.Experiment)
			if !hasCells(j.Study) {
				// The paper's own settings of what other studies vary are the same experiments.
				if want := j.place(); ok && (got.Protocol != want.Protocol || got.Arrivals != want.Arrivals) {
					t.Errorf("%s %s is taken for %v", j.Study, j.Name(), got)
				}
				continue
			}
			if want := j.place(); !ok || got != want {
				t.Errorf("scale %s: %s is at %v (%v), want %v", Scales[i].Name, j.Name(), got, ok, want)
			}
		}
	}
}

func TestWhatThePaperDoesNotHaveHasNoPlace(t *testing.T) {
	set := func(path, value string) []scenarios.Change { return []scenarios.Change{{Path: path, Value: value}} }
	for _, c := range []struct {
		name, scenario string
		changes        []scenarios.Change
		want           bool
	}{
		{"the same in small", "small-wkc", nil, true},
		{"a parameter", "small-wkc", set("sird.b", "2"), false},
		{"the paper's rule for loss", "small-wkc", set("sird.loss_detection", "silence"), true},
		{"a load", "small-wkc", set("traffic[all].load", "0.33"), false},
		{"a rate", "small-wkc", set("topology.core_rate", "300Gbps"), false},
		{"another MTU", "small-wkc", set("topology.mtu", "9000B"), false},
		{"the same MTU", "small-wkc", set("topology.mtu", "1500B"), true},
		{"a delay", "small-wkc", set("topology.host_delay", "2us"), false},
		{
			"dcPIM's delays", "small-wkc",
			append(set("topology.host_delay", "650ns"), set("topology.core_delay", "650ns")...), false,
		},
		{"a port's limit", "small-wkc", set("queue_limit", "200KB"), false},
		{"a slower link", "small-wkc", set("topology.links", "[{between: [leaf1, spine1], rate: 100Gbps}]"), false},
		{"faults", "small-wkc", set("faults.drop", "0.01"), false},
		{"some hosts", "small-wkc", set("traffic[all].from", "[h1-1]"), false},
		{"another scenario", "quickstart", nil, false},
		{"incast", "paper/incast", nil, true},
		{"incast of a larger share", "paper/incast", set("traffic[burst].load", "0.07"), false},
		{"incast of smaller messages", "paper/incast", set("traffic[burst].size", "250KB"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, x := range experiments(t, c.scenario, c.changes...) {
				if x.Protocol == "sird" {
					if p, ok := PlaceOf(&x); ok != c.want {
						t.Errorf("%v, %v", p, ok)
					}
				}
			}
		})
	}
}

// Of several seeds a cell has the median and all of them. Poisson arrivals count where there
// are no others.
func TestCellsOfPointsThatWereFound(t *testing.T) {
	point := func(seed uint64, load, arrivals string, goodput, p99 float64) Placed {
		p := &points.Point{Experiment: emu.Experiment{Protocol: "sird", Seed: seed}}
		p.Result.GoodputGbps = goodput
		p.Result.Slowdown = map[string]results.Slowdowns{results.Paper: {results.AllSizes: {Count: 1, P99: p99}}}
		return Placed{Place{"balanced", "wkc", load, "sird", arrivals}, p}
	}
	f, poisson := FoundAt([]Placed{
		point(1, "0.5", "poisson", 40, 3), point(2, "0.5", "poisson", 41, 5), point(3, "0.5", "poisson", 42, 4),
		point(1, "0.95", "poisson", 60, 9),
	})
	m := f.Measured()
	p99 := m.Cells[paper.Cell{Table: paper.P99Slowdown, Config: "balanced", Workload: "wkc", Protocol: "sird"}]
	if !poisson || p99.Number != 4 || len(p99.Seeds) != 3 {
		t.Errorf("poisson %v, p99 %+v", poisson, p99)
	}
	most := m.Cells[paper.Cell{Table: paper.MaxGoodput, Config: "balanced", Workload: "wkc", Protocol: "sird"}]
	if most.Number != 60 {
		t.Errorf("goodput %+v", most)
	}
	f, poisson = FoundAt([]Placed{point(1, "0.5", "poisson", 40, 3), point(1, "0.5", "released", 41, 7)})
	if v, _ := f.Slowdown("balanced", "wkc", "sird", "released"); poisson || len(f.Points) != 1 || v.Number != 7 {
		t.Errorf("poisson %v, %d points", poisson, len(f.Points))
	}
}
