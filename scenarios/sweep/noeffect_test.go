package sweep

import (
	"strings"
	"testing"
)

// An axis that each variant sets again, or no protocol uses, is no axis: its rows would be one run.
func TestAxesWithoutEffect(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       []string
		variants   []string
		said       string
		err        string
	}{
		{name: "of one protocol", axes: []string{"sird.sthr=0.5,1"},
			said: "axis sthr changes nothing at variant=one protocol=homa; variant=two protocol=homa: what it sets"},
		{name: "set again by a variant", axes: []string{"sird.b=1,1.5"},
			said: "variant=one protocol=homa; variant=two protocol=sird; variant=two protocol=homa: what it sets"},
		{name: "set again by all that is wanted", axes: []string{"sird.b=1,1.5"}, variants: []string{"two"},
			err: "axis b changes nothing at any point"},
		{name: "only some of its values", axes: []string{"drain=1ms,1000us,2ms"}},
		{name: "which protocols there are", axes: []string{"protocols=[sird],[homa]"}},
		{name: "set again by another axis", axes: []string{"a:sird.sthr=1,2", "c:sird.sthr=3,4"},
			err: "axis a changes nothing at any point"},
		{name: "under another name", axes: []string{"a:traffic[0].load=0.1,0.2"},
			err: "axis load changes nothing at any point"},
		{name: "one value", axes: []string{"swift.max_window=2"}},
	} {
		g := Grid{Path: file(t), Variants: c.variants}
		for _, text := range c.axes {
			g.Axes = append(g.Axes, axis(t, text))
		}
		jobs, _, err := g.Jobs()
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var list []string
		for _, axis := range WithoutEffect(jobs) {
			list = append(list, axis.String())
		}
		if got := strings.Join(list, "\n"); (got == "") != (c.said == "") || !strings.Contains(got, c.said) {
			t.Errorf("%s: %q, want %q", c.name, got, c.said)
		}
	}
}

// Of the scenario's own axes one may have no effect on the variants that are wanted.
func TestOwnAxesMayHaveNoEffectOnSomeVariants(t *testing.T) {
	const own = "sweep:\n  - {axis: b, set: sird.b, values: [1, 1.5]}\n"
	before, _, _ := strings.Cut(scenario, "sweep:")
	g := Grid{Path: fileOf(t, before+own), Variants: []string{"two"}}
	jobs, _, err := g.Jobs()
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if list := WithoutEffect(jobs); len(list) != 1 || !list[0].Everywhere {
		t.Errorf("without effect are %v, want b", list)
	}
}

// A seed that another axis sets again would be one run posing as several.
func TestSeedsAreSetOnce(t *testing.T) {
	const own = `sweep:
  - {axis: seed, set: seed, values: [1, 2]}
  - {axis: x, options: [{name: one, set: [seed=5]}, {name: two, set: [seed=5, sird.b=2]}]}
`
	before, _, _ := strings.Cut(scenario, "sweep:")
	g := Grid{Path: fileOf(t, before+own)}
	if _, _, err := g.Jobs(); err == nil || !strings.Contains(err.Error(), "axis seed changes nothing at any point") {
		t.Errorf("%v", err)
	}
}
