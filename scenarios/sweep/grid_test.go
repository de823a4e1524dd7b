package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/emu"
	"sirdbed/scenarios"
)

const scenario = `name: g
engine: model
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 1us}
protocols: [sird, homa]
traffic: [{name: a, pattern: poisson, sizes: wka, load: 0.4}]
variants: [{name: one}, {name: two, sird: {b: 2}}]
duration: 1ms
sweep:
  - {axis: load, set: "traffic[a].load", values: [0.2, 0.4]}
`

func file(t *testing.T) string {
	t.Helper()
	return fileOf(t, scenario)
}

func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.yaml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func axis(t *testing.T, text string) scenarios.Axis {
	t.Helper()
	a, err := scenarios.ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A grid has each variant and protocol at each combination, the last axis fastest.
func TestJobsOfAGrid(t *testing.T) {
	g := Grid{Path: file(t), Axes: []scenarios.Axis{axis(t, "seed=1..2")}}
	jobs, s, err := g.Jobs()
	if err != nil || s.Name != "g" {
		t.Fatal(err)
	}
	var names []string
	for i := range jobs {
		names = append(names, jobs[i].Name())
	}
	want := []string{
		"load=0.2 seed=1 one sird", "load=0.2 seed=1 one homa", "load=0.2 seed=1 two sird", "load=0.2 seed=1 two homa",
		"load=0.2 seed=2 one sird",
	}
	if len(names) != 16 || !slices.Equal(names[:5], want) {
		t.Errorf("%d jobs: %q", len(names), names)
	}
	last := jobs[15]
	x := last.Experiment
	if x.Seed != 2 || x.Streams[0].Load != 0.4 || x.Protocol != "homa" || last.Engine != emu.Model {
		t.Errorf("the last is %+v", last)
	}
	// Homa takes nothing of SIRD's B, so that its variants are the same experiment.
	if jobs[1].Address != jobs[3].Address || jobs[0].Address == jobs[2].Address {
		t.Error("addresses are not those of experiments")
	}
	if jobs[15].Cost <= jobs[0].Cost {
		t.Errorf("load 0.4 is to cost %v, 0.2 %v", jobs[15].Cost, jobs[0].Cost)
	}
	axes, labels := Axes(jobs)
	if !slices.Equal(axes, []string{"load", "seed", VariantAxis, ProtocolAxis}) || len(labels[ProtocolAxis]) != 2 {
		t.Errorf("axes %v, %v", axes, labels)
	}
}

// Where combinations differ in their protocols, each point says which it is of; where all have
// the same one, none does.
func TestProtocolsThatAnAxisChooses(t *testing.T) {
	for options, want := range map[string]string{
		"{name: a, set: ['protocols=[sird]']}, {name: b, set: ['protocols=[sird, homa]']}": "who=a sird, who=b sird, " +
			"who=b homa",
		"{name: a, set: ['protocols=[sird]']}, {name: b, set: ['protocols=[homa]']}":         "who=a sird, who=b homa",
		"{name: a, set: ['protocols=[sird]']}, {name: b, set: ['protocols=[sird]', seed=2]}": "who=a, who=b",
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		text := strings.Replace(scenario, "variants: [{name: one}, {name: two, sird: {b: 2}}]\n", "", 1)
		text, _, _ = strings.Cut(text, "sweep:")
		if err := os.WriteFile(path, []byte(text+"sweep: [{axis: who, options: ["+options+"]}]\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		jobs, _, err := (&Grid{Path: path}).Jobs()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range jobs {
			names = append(names, jobs[i].Name())
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: got %s, want %s", options, got, want)
		}
	}
}

// Before anything has run, a cost is all that is known of how long a point takes: those of the
// paper took about as long.
func TestCostIsAboutWhatPointsTook(t *testing.T) {
	store, err := points.ViewStore("../paper/points")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	keys, err := store.Keys()
	if err != nil {
		t.Fatal(err)
	}
	var ratios []float64
	for i := 0; i < len(keys); i += 5 {
		p, _ := store.Get(points.Address{Key: keys[i]})
		if p == nil || p.Engine != emu.Model || p.ProcessorSeconds == 0 || p.Unbounded != "" {
			continue
		}
		cost, err := Cost(&p.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, p.ProcessorSeconds/cost)
	}
	slices.Sort(ratios)
	n := len(ratios)
	if n < 50 {
		t.Fatalf("%d points say what they took", n)
	}
	if median := ratios[n/2]; median < 0.5 || median > 2 {
		t.Errorf("the median point took %.2f times its cost", median)
	}
	if low, high := ratios[n/20], ratios[n-1-n/20]; low < 0.2 || high > 5 {
		t.Errorf("nine in ten points took %.2f to %.2f times their cost", low, high)
	}
}

// An axis of the command line takes the place of the scenario's of that name.
func TestAxisInPlaceOfTheScenarios(t *testing.T) {
	g := Grid{
		Path: file(t), Axes: []scenarios.Axis{axis(t, "traffic[a].load=0.7")}, Variants: []string{"one-sird"},
		Changes: []scenarios.Change{{Path: "duration", Value: "2ms"}}, Engine: emu.Virtual,
	}
	jobs, _, err := g.Jobs()
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	x := jobs[0].Experiment
	if x.Streams[0].Load != 0.7 || x.Duration.Milliseconds() != 2 || jobs[0].Engine != emu.Virtual {
		t.Errorf("%+v", jobs[0])
	}
}

func TestGridsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"sird.bb=1":             `at load=0.2 bb=1: --set sird.bb=1`,
		"protocol:duration=1ms": "cannot be called protocol",
		"seed=1..60000":         "more than 100000 points",
		"x:seed=1..2":           "axis x sets the seed: seeds are repetitions, want it called seed",
		"seed:sird.b=1,2":       "axis seed sets sird.b: only seeds",
		"swift.max_window=1,2":  "axis max_window changes nothing at any point",
	} {
		g := Grid{Path: file(t), Axes: []scenarios.Axis{axis(t, text)}}
		if _, _, err := g.Jobs(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	g := Grid{Path: file(t), Axes: []scenarios.Axis{axis(t, "engine=model,real")}, Engine: emu.Model}
	want := "axis engine sets the engine, which is model"
	if _, _, err := g.Jobs(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two words on the engine: %v", err)
	}
	g = Grid{Path: file(t), Changes: []scenarios.Change{{Path: "traffic[a].load", Value: "0.3"}}}
	want = "and so does --set traffic[a].load=0.3: leave that out, or have the axis at one value: " +
		"--over load:traffic[a].load=0.3"
	if _, _, err := g.Jobs(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an axis over what is set: %v", err)
	}
	g.Changes = []scenarios.Change{{Path: "sird.b", Value: "3"}}
	g.Axes = []scenarios.Axis{axis(t, "sird={b: 1},{b: 2}")}
	if _, _, err := g.Jobs(); err == nil || !strings.HasSuffix(err.Error(), "--set sird.b=3: leave that out") {
		t.Errorf("an axis over all of what is set: %v", err)
	}
	if _, _, err := (&Grid{Path: "nosuch"}).Jobs(); err == nil {
		t.Error("a scenario that is not there")
	}
}

// Of two axes of one name none is dropped in silence; one of the scenario's is replaced.
func TestAxesOfOneName(t *testing.T) {
	g := Grid{Path: file(t), Axes: []scenarios.Axis{axis(t, "sird.b=1,2"), axis(t, "b:traffic[a].load=0.1,0.2")}}
	_, _, err := g.Jobs()
	if err == nil || !strings.Contains(err.Error(), "two axes are called b: ") ||
		!strings.Contains(err.Error(), "b2:traffic[a].load") {
		t.Errorf("got %v, want to be told how to name them apart", err)
	}
	g.Axes = []scenarios.Axis{axis(t, "traffic[a].load=0.1")}
	if jobs, _, err := g.Jobs(); err != nil || len(jobs) != 4 || jobs[0].Label("load") != "0.1" {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// A variant may be called as another with its protocol is: they are two places.
func TestVariantsWhoseLabelsLookAlike(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.yaml")
	text := strings.NewReplacer("protocols: [sird, homa]", "protocols: [sird]",
		"{name: one}, {name: two, sird: {b: 2}}", "{name: a}, {name: a-sird, sird: {b: 2}}").Replace(scenario)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	jobs, _, err := (&Grid{Path: path}).Jobs()
	if err != nil || len(jobs) != 4 || jobs[0].Label(VariantAxis) != "a" || jobs[1].Label(VariantAxis) != "a-sird" {
		t.Errorf("%+v, %v", jobs, err)
	}
}
