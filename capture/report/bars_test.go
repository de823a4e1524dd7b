package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/traffic"
)

// Messages of incast streams are said to be left out where there are some, bars
// with few samples are explained where there are some, and each variant has the
// same dashes wherever it is a line.
func TestSlowdownCaption(t *testing.T) {
	v := run(t, "fast", 1)
	caption := func(v *results.Variant) string {
		figures := Figures([]*results.Variant{v})
		i := slices.IndexFunc(figures, func(f Figure) bool { return f.Name == "slowdown" })
		return figures[i].Caption
	}
	const begins = "Slowdown by size group, the paper's definition: the median, and in a lighter shade the p99. " +
		"1600 messages of all variants"
	if got, want := caption(v), begins+". A hatched bar has fewer than 100 samples."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	incast := named(v, "incast", "sird", 0)
	incast.Experiment.Streams[1].Pattern = traffic.PatternIncast
	if got, want := caption(incast), begins+"; those of incast streams are left out. "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin %q", got, want)
	}
}

func TestDashesAreTheSameEverywhere(t *testing.T) {
	v := run(t, "v", 1)
	for _, f := range Figures([]*results.Variant{named(v, "a", "x", 0), named(v, "b", "y", 0), named(v, "c", "z", 0)}) {
		svg, err := f.SVG()
		must(t, err)
		if (f.Name == "slowdown" || f.Name == "queue") && !bytes.Contains(svg, []byte("stroke-dasharray")) {
			t.Errorf("%s has no dashes for the third variant", f.Name)
		}
	}
}
