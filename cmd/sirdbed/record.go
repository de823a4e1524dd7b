package main

import (
	"slices"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/scenarios"
)

// Files of a result that are written before it runs.
const (
	scenarioText = "scenario.yaml" // as it was read
	scenarioFile = "scenario.json" // as it is run: a Record
)

// A Record is scenario.json: what report needs to know of a run whose end was never
// written.
type Record struct {
	Format int `json:"format"` // of the raw logs
	// Checksums reports whether the run keeps checksums.json: versions before did not.
	Checksums bool `json:"checksums,omitempty"`

	Engine   emu.EngineName      `json:"engine"`
	Scenario *scenarios.Scenario `json:"scenario"`
	Runs     []string            `json:"runs,omitempty"`    // what was asked for and the engine can run; none: all
	Skipped  []results.Skipped   `json:"skipped,omitempty"` // what the engine cannot run
}

func (r *scenarioRun) record() Record {
	return Record{
		Format: results.Format, Engine: r.engine, Scenario: r.scenario, Runs: r.labels(), Skipped: r.skipped,
		Checksums: true,
	}
}

// labels names the variants to run.
func (r *scenarioRun) labels() (labels []string) {
	for i := range r.experiments {
		labels = append(labels, r.experiments[i].Variant)
	}
	return labels
}

// expected names the variants that a whole result has.
func (r *Record) expected() []string {
	if len(r.Runs) > 0 {
		return r.Runs
	}
	return slices.DeleteFunc(r.Scenario.Labels(), func(label string) bool {
		return slices.ContainsFunc(r.Skipped, func(s results.Skipped) bool { return s.Variant == label })
	})
}
