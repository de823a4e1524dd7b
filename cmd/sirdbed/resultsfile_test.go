package main

import (
	"os"
	"strings"
	"testing"

	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// RESULTS.md is generated: it goes stale when a claim or a row of differences is reworded and
// scripts/results.sh does not run.
func TestResultsSayWhatTheDataSays(t *testing.T) {
	text, err := os.ReadFile("../../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(what, said string) {
		if !strings.Contains(string(text), report.MarkdownText(said)) {
			t.Errorf("%s is not in RESULTS.md, run scripts/results.sh: %s", what, said)
		}
	}
	findings, err := paper.Evaluate(&paper.Measured{})
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) < 100 {
		t.Fatalf("%d claims", len(findings))
	}
	for _, f := range findings {
		has("claim "+f.Claim.ID, f.Claim.Statement)
	}
	for _, row := range reproduce.Differences().Rows {
		for _, cell := range row {
			has("a difference", cell)
		}
	}
}
