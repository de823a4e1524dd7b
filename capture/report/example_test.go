package report_test

import (
	"log"
	"os"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

// Two results side by side.
func ExampleCompare() {
	summary := func(engine string, gbps float64) *results.Summary {
		return &results.Summary{Variants: []results.VariantSummary{
			{Variant: "incast", Engine: engine, Verdict: results.Pass, GoodputGbps: gbps}}}
	}
	c := report.Compare([]string{"laptop", "night"}, []*results.Summary{summary("model", 90), summary("virtual", 91.8)})
	if err := c.Print(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// incast
	//  metric                  laptop    night    diff
	// ─────────────────────────────────────────────────
	//  engine                   model  virtual
	//  verdict                   PASS     PASS
	//  goodput, Gbps per host   90.00    91.80  +2.0 %
	//  queue max, KB                0        0
	//  queue mean, KB               0        0
	//  queue p99.9, KB              0        0
	//  diff: to the first. *: fewer than 100 samples.
}
