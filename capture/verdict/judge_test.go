package verdict

import (
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

const (
	us = units.Microsecond
	ms = units.Millisecond
)

// analyze computes the results of a directory with their verdict.
func analyze(t *testing.T, dir string, opt results.Options) (*results.Variant, error) {
	v, err := results.Analyze(fakerun.Open(t, dir), opt)
	if err == nil {
		v.Verdict = Judge(v)
	}
	return v, err
}

// judged writes a made-up run and computes its results with their verdict.
func judged(t *testing.T, r *fakerun.Run) *results.Variant {
	t.Helper()
	v, err := analyze(t, r.Write(t), results.Options{Framing: fakerun.Framing})
	must(t, err)
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The summary of several variants has the worst of their verdicts, and names the
// variant with each reason.
func TestVerdictOfSeveralVariants(t *testing.T) {
	var list []*results.Variant
	for _, name := range []string{"b", "a", "0"} {
		r := fakerun.New(t, fakerun.OneWay)
		r.X.Variant = name
		if name == "0" {
			r.Facts = nil
		}
		list = append(list, judged(t, r))
	}
	s := results.Summarize(list)
	if s.Verdict != results.Invalid || !strings.HasPrefix(s.Reasons[0], "0: facts") || s.Dilation != 1000 ||
		s.WallSeconds != 20 {
		t.Errorf("%s %v, dilation %d, %v s", s.Verdict, s.Reasons, s.Dilation, s.WallSeconds)
	}
}
