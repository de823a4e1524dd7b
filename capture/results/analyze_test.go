package results

import (
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/topo/units"
)

const (
	us = units.Microsecond
	ms = units.Millisecond
)

// analyze writes a made-up run and computes its results.
func analyze(t *testing.T, r *fakerun.Run) *Variant {
	t.Helper()
	v, err := Analyze(fakerun.Open(t, r.Write(t)), Options{Framing: fakerun.Framing})
	must(t, err)
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
