package report

import (
	"strings"
	"testing"

	"sirdbed/capture/results"
)

// Results that have no variant in common are not compared, unless each has just one.
func TestResultsWithoutACommonVariant(t *testing.T) {
	of := func(names ...string) *results.Summary {
		s := &results.Summary{}
		for _, name := range names {
			s.Variants = append(s.Variants, results.VariantSummary{Variant: name})
		}
		return s
	}
	for _, c := range []struct {
		name string
		list []*results.Summary
		want string
	}{
		{"single", []*results.Summary{of("a"), of("b")}, ""},
		{"one of two", []*results.Summary{of("a", "b"), of("b", "c")}, ""},
		{"none", []*results.Summary{of("a", "b"), of("c", "d")},
			"no variant is in both results: x has a, b, y has c, d"},
		{"none of the last", []*results.Summary{of("a", "b"), of("b"), of("c")},
			"no variant is in both results: x has a, b, z has c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := Common([]string{"x", "y", "z"}, c.list); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDifferencesArePrintedWithoutANegativeZero(t *testing.T) {
	for relative, want := range map[float64]string{-0.0001: "0.0 %", 0: "0.0 %", 0.0001: "0.0 %", 0.01: "+1.0 %",
		-0.01: "-1.0 %", 19: "x20"} {
		if got := (&Value{Relative: &relative}).difference(); got != want {
			t.Errorf("%v: got %q, want %q", relative, got, want)
		}
	}
}

func TestAComparisonPrintsNoControlCharacters(t *testing.T) {
	hostile := "a\x1b[2J\nall is well\u202e"
	s := &results.Summary{Scenario: hostile, Set: []string{hostile}, Variants: []results.VariantSummary{
		{Variant: hostile, Engine: hostile, Verdict: results.Level(hostile)},
	}}
	s.Variants[0].Streams = []results.Stream{{Name: hostile}}
	s.Variants[0].Streams[0].LatencyNS.Count = 1
	plain := &results.Summary{Scenario: "b", Variants: []results.VariantSummary{{Variant: "b"}}}
	var text strings.Builder
	if err := Compare([]string{"results/" + hostile, "b"}, []*results.Summary{s, plain}).Print(&text); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "\nall is well") {
		t.Errorf("got %q, want no control characters", got)
	}
}
