package main

import (
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A point says what it took of a processor, which others that want the processor do not change:
// estimates of later sweeps are made of it.
func TestPointSaysItsProcessorTime(t *testing.T) {
	grid := sweep.Grid{Path: "outcast", BuiltIn: true, Engine: emu.Model, Changes: []scenarios.Change{
		{Path: "duration", Value: "1ms"},
	}}
	jobs, _, err := grid.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p, err := runPoint(t.Context(), &jobs[0], func(units.Time) {})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began).Seconds()
	if s := p.ProcessorSeconds; s <= 0 || s > took || p.Seconds() != s {
		t.Errorf("%v s of a processor in %v s, and %v for estimates", s, took, p.Seconds())
	}
	p.ProcessorSeconds = 0 // of a machine or a version that does not tell
	if p.Seconds() != p.Result.WallSeconds {
		t.Errorf("got %v s for estimates, want those of the clock, %v", p.Seconds(), p.Result.WallSeconds)
	}
}
