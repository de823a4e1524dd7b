package main

import (
	"slices"
	"testing"

	"sirdbed/capture/report"
)

// Reproductions of two scales differ in more than their figures; sweeps in experiments at the same place.
func TestGridsSayInWhatTheyDiffer(t *testing.T) {
	small := &compared{paper: &ComparedPaper{Scale: "small", Engine: "model", Samples: 1}}
	paper := &compared{paper: &ComparedPaper{Scale: "paper", Engine: "model", Samples: 1}}
	sweep := func(key string, hosts int64) *compared {
		return &compared{sweep: &SweepOutcome{Scenario: "s", Axes: []string{"load"}, Points: []SweepRow{
			{At: map[string]string{"load": "0.5"}, Seed: 1, Engine: "model", Key: key, Hosts: hosts},
			{At: map[string]string{"load": "0.7"}, Seed: 1, Engine: "model", Key: "same", Hosts: hosts},
			{At: map[string]string{"load": key}, Seed: 1, Engine: "model", Key: key, Hosts: hosts},
		}}}
	}
	on := func(engine string, c *compared) *compared {
		for i := range c.sweep.Points {
			c.sweep.Points[i].Engine = engine
		}
		return c
	}
	for _, c := range []struct {
		list []*compared
		want []string
	}{
		{[]*compared{small, small}, nil},
		{[]*compared{small, paper}, []string{"The scales differ:", "  a: small", "  b: paper"}},
		{[]*compared{sweep("1", 8), sweep("1", 8)}, nil},
		{[]*compared{sweep("1", 8), on("virtual", sweep("1", 8))}, []string{
			"The engines differ:", "  a: model", "  b: virtual",
			"Beside the axes, experiments differ from the first result's:", "  a: none",
			"  b: not known, since no point is of the same seed and engine",
		}},
		{[]*compared{sweep("1", 8), sweep("2", 16)}, []string{
			"The numbers of hosts differ:", "  a: 8", "  b: 16",
			"Beside the axes, experiments differ from the first result's:", "  a: none",
			"  b: 1 of the 2 points that both have",
		}},
	} {
		if got := report.Differences([]string{"a", "b"}, gridConditions(c.list)); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
