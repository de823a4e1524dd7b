package main

import (
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
)

// Under a verdict that is INVALID stands the advice for the check and the engine;
// what is DEGRADED or passes needs none.
func TestAdviceIsThatOfTheEngine(t *testing.T) {
	for _, c := range verdict.Checks() {
		for _, engine := range emu.EngineNames {
			for _, level := range []results.Level{results.Pass, results.Degraded, results.Invalid} {
				v := results.VariantSummary{}
				v.Checks = []results.Check{{Name: "run", Level: results.Pass}, {Name: c.Name, Level: level}}
				o := outcome{summary: &results.Summary{Engine: string(engine), Verdict: level,
					Variants: []results.VariantSummary{v}}}
				want := ""
				if level == results.Invalid {
					want = "the verdict is INVALID: " + c.Name + ". " + c.Advice(engine) + "\n"
				}
				var stderr strings.Builder
				_ = o.verdict(&stderr)
				if stderr.String() != want {
					t.Errorf("%s on %s, %s: got %q, want %q", c.Name, engine, level, stderr.String(), want)
				}
			}
		}
	}
}
