package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/sirdnode/fault"
)

// A timeline of faults is along the lower edge of plots over time, in the color of its
// variant, and captions say so.
func TestTimelinesAreDrawn(t *testing.T) {
	plain, failing := run(t, "a", 1), run(t, "b", 1)
	failing.Experiment.Timeline = fault.Timeline{{At: 1000, Link: "h1-1", Do: fault.Down}}
	for _, c := range []struct {
		name     string
		variants []*results.Variant
		rows     int
	}{
		{"none", []*results.Variant{plain}, 0},
		{"one", []*results.Variant{plain, failing}, 1},
		{"the same twice", []*results.Variant{failing, failing}, 1},
	} {
		d := &drawing{variants: c.variants}
		if n := len(d.faults()); n != c.rows {
			t.Errorf("%s: %d rows of bars, want %d", c.name, n, c.rows)
		}
		figures := Figures(c.variants)
		told := 0
		for _, f := range figures {
			if strings.Contains(f.Caption, "edge: faults") {
				told++
			}
		}
		if (told > 0) != (c.rows > 0) {
			t.Errorf("%s: %d of %d captions tell of faults", c.name, told, len(figures))
		}
	}
}

// A run with faults or changes says so wherever its verdict is: its figures are
// not those that the scenario's name promises.
func TestFaultsAndChangesAreTold(t *testing.T) {
	v := run(t, "fast", 1)
	v.Experiment.Faults = fault.Config{Drop: 0.01, Reorder: 0.002, ReorderDelay: 5000}
	variants := []*results.Variant{v}
	s := results.Summarize(variants)
	s.Set = []string{"sird.sthr=inf", "sird.b=2"}
	faults, set := "drop 1 %, reorder 0.2 % by up to 5us", "sird.sthr=inf, sird.b=2"
	line := "Faults injected: " + faults + ". Changed by --set: " + set + "."
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		want  []string
	}{
		{"terminal", func(w io.Writer) error { return Print(w, s) }, []string{"seed 1\n" + line + "\n"}},
		{"Markdown", Outcome{Summary: s}.Markdown, []string{line}},
		{"page", func(w io.Writer) error {
			text, err := RunPage(results.NewManifest(nil, variants, s), s, nil, About{}).HTML()
			_, writeErr := w.Write(text)
			return errors.Join(err, writeErr)
		}, []string{
			">Faults injected: " + faults + ".</p>", ">Changed by --set: " + set + ".</p>",
			">faults</td><td class=\"left \">" + faults, ">changed by --set</td><td class=\"left \">" + set,
			"the network with the faults below",
		}},
		{"comparison", func(w io.Writer) error {
			none := results.Summarize([]*results.Variant{run(t, "fast", 1)})
			old := results.Summarize([]*results.Variant{run(t, "fast", 1)})
			old.Faults = nil
			none.Scenario, none.Seed = "other", 7
			return Compare([]string{"x/one", "x/two", "x/old"}, []*results.Summary{s, none, old}).Print(w)
		}, []string{
			"\n  two: other\n", "The seeds differ:\n  one: 1\n  two: 7\n  old: 1\n",
			"The faults injected differ:\n  one: " + faults + "\n  two: none\n  old: not recorded\n",
			"What --set changed differs:\n  one: " + set + "\n  two: none\n",
		}},
		{"comparison of the same", func(w io.Writer) error {
			var out bytes.Buffer
			err := Compare([]string{"x/one", "x/two"}, []*results.Summary{s, s}).Print(&out)
			if strings.Contains(out.String(), "differ:") {
				t.Errorf("it says that they differ:\n%s", out.String())
			}
			return err
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			must(t, c.write(&out))
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%.4000s", want, out.String())
				}
			}
		})
	}
}
