package report

import (
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/results"
)

// named is a result as run makes it, of a protocol under a variant's name.
func named(v *results.Variant, name, protocol string, load float64) *results.Variant {
	c := *v
	c.Name, c.Protocol = name, protocol
	c.Experiment.Streams = slices.Clone(c.Experiment.Streams)
	c.Experiment.Streams[0].Load = load
	return &c
}

// More variants than colors are drawn by scenario variant, in which each
// protocol has its own color; and over three loads queues make curves.
func TestFiguresOfManyVariants(t *testing.T) {
	v := run(t, "x", 1)
	var list []*results.Variant
	for i, load := range []string{"low", "mid", "high"} {
		for _, protocol := range []string{"sird", "homa", "tcp"} {
			list = append(list, named(v, load+"-"+protocol, protocol, float64(i+1)/4))
		}
	}
	figures := Figures(list)
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
		if f.Name == "gauge-credit_held" {
			for _, v := range list {
				if !slices.ContainsFunc(f.Series, func(s Series) bool { return s.Name == v.Name }) {
					t.Errorf("%s has no line for %s", f.Name, v.Name)
				}
			}
		}
		text, err := f.SVG()
		must(t, err)
		if svg := string(text); strings.HasSuffix(f.Name, "-low") &&
			(!strings.Contains(svg, ">homa<") || strings.Contains(svg, ">low-homa<")) {
			t.Errorf("%s has not the protocols for a legend", f.Name)
		}
	}
	for _, want := range []string{"slowdown-low", "slowdown-high", "latency-small-mid", "goodput-high",
		"queue-by-goodput", "queue-by-goodput-mean", "queue-cdf-mid", "gauge-credit_held"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s in %v", want, names)
		}
	}
	if slices.Contains(names, "slowdown") {
		t.Error("all variants in one figure too")
	}
	for _, few := range [][]*results.Variant{list[:4], {list[0], list[3], list[6]}} {
		figures := Figures(few)
		if !slices.ContainsFunc(figures, func(f Figure) bool { return f.Name == "slowdown" }) {
			t.Errorf("%d variants: %d figures", len(few), len(figures))
		}
	}
}
