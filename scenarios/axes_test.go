package scenarios

import (
	"slices"
	"strings"
	"testing"
)

func labels(t *testing.T, text string) (list []string) {
	t.Helper()
	a, err := ParseAxis(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	settings, err := a.Settings()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, s := range settings {
		list = append(list, s.Label)
	}
	return list
}

func TestAxesOfACommandLine(t *testing.T) {
	for text, want := range map[string][]string{
		"sird.sthr=0.5,1,inf":                   {"0.5", "1", "inf"},
		"load:traffic[all].load=0.1..0.3/0.1":   {"0.1", "0.2", "0.3"},
		"sird.b=1bdp..2bdp/0.5bdp":              {"1bdp", "1.5bdp", "2bdp"},
		"seed=1..3":                             {"1", "2", "3"},
		"sird.bdp=100KB..400KB/150KB,1MB":       {"100KB", "250KB", "400KB", "1MB"},
		"drain=1..3ms":                          {"1ms", "2ms", "3ms"},
		"traffic[all].from=[h1-1, h1-2],[h1-3]": {"[h1-1, h1-2]", "[h1-3]"},
		"a.b.c=0..1/0.25":                       {"0", "0.25", "0.5", "0.75", "1"},
		"a.b.c=-1..1":                           {"-1", "0", "1"},
		"a.b.c=1e-3..3e-3/1e-3":                 {"0.001", "0.002", "0.003"},
	} {
		if got := labels(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	a, err := ParseAxis("load:traffic[all].load=0.5")
	if err != nil || a.Axis != "load" || a.Set != "traffic[all].load" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, _ := ParseAxis("traffic[all].load=0.5"); a.Axis != "load" {
		t.Errorf("an axis without a name is called %q", a.Axis)
	}
}

func TestAxesThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "want PATH=VALUES",
		"sird.sthr":              "want PATH=VALUES",
		"=1":                     "want PATH=VALUES",
		"sird.sthr=":             "want PATH=VALUES",
		"A B:sird.sthr=1":        "no name for an axis",
		"sird.sthr=1,,2":         "a value is empty",
		"sird.sthr=1,2,1":        "1 is there twice",
		"sird.b=1KB..2MB/1KB":    "the same unit",
		"sird.b=2..1":            "FROM up to TO",
		"sird.b=1..2/0":          "step above 0",
		"sird.b=2..1/-0.1":       "step above 0",
		"sird.b=0.2..0.8":        "want a step behind it",
		"sird.b=0.2,0.20":        "0.20 is there twice",
		"drain=1ms,1.0ms":        "1.0ms is there twice",
		"seed=1..9999999":        "more than 100000 values",
		"sird.b=1..2/0.00000001": "more than 100000 values",
	} {
		if _, err := ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What is wrong with a scenario's axes is reported with its place in the file.
func TestSweepOfAScenario(t *testing.T) {
	const head = `name: x
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 1us}
traffic: [{name: a, pattern: fixed, from: [h1-1], to: [h1-2], size: 8B, interval: 10us}]
duration: 1ms
sweep:
`
	s, err := Parse("x.yaml", ".", []byte(head+`  - {axis: b, set: sird.b, values: [1, 1.5..2.5/0.5]}
  - {axis: kind, options: [{name: plain}, {name: long, set: [duration=2ms]}]}
`))
	if err != nil || len(s.Sweep) != 2 {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"  - {axis: b, values: [1]}\n": "x.yaml:6:",
		"  - {axis: b, set: sird.b, values: [1]}\n  - {axis: b, set: seed, values: [1]}\n": "two axes are called b",
		"  - {axis: B!, set: sird.b, values: [1]}\n":                                       "want a name",
		"  - {axis: b, options: [{name: x, set: [nothing]}]}\n":                            "want path=value",
	} {
		if _, err := Parse("x.yaml", ".", []byte(head+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Whole numbers of a range are exact, seeds above all.
func TestRangesOfWholeNumbersAreExact(t *testing.T) {
	a, err := ParseAxis("seed=1000000000001..1000000000021/10")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := a.Settings()
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, s := range settings {
		labels = append(labels, s.Label)
	}
	if want := []string{"1000000000001", "1000000000011", "1000000000021"}; !slices.Equal(labels, want) {
		t.Errorf("seeds %q, want %q", labels, want)
	}
}
