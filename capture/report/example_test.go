package report_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

// A page of figures that no run has made: measured values beside printed ones.
func ExamplePage() {
	page := report.Page{
		Title: "Overcommitment",
		Lead:  []string{"Mean queue at the largest goodput, over SIRD's B."},
		Figures: []report.Figure{{
			Name: "frontier", Title: "Queue by goodput", Caption: "Crosses: as printed.",
			X: report.Axis{Label: "goodput per host (Gbps)", Min: 80, Max: 95},
			Y: report.Axis{Label: "mean queue (KB)", Log: true},
			Series: []report.Series{
				{Name: "sird", Protocol: "sird", Shape: report.Curve, Points: []report.Point{
					{X: 84.2, Y: 14, Note: "B = 1.0 BDP"}, {X: 89.6, Y: 31, Note: "B = 1.5 BDP"}}},
				{Name: "sird, printed", Protocol: "sird", Look: 1, Shape: report.Marks, Points: []report.Point{
					{X: 90.1, Y: 33}}},
			},
		}},
		Sections: []report.Section{{Title: "Points", Tables: []report.Table{{
			Header: []string{"B", "Gbps", "KB"}, Left: 1,
			Rows: [][]string{{"1.0", "84.20", "14.00"}, {"1.5", "89.60", "31.00"}},
		}}}},
		Command: "sirdbed sweep frontier.yaml",
	}
	html, err := page.HTML()
	if err != nil {
		log.Fatal(err)
	}
	svg, err := page.Figures[0].SVG()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(html) > 50_000, len(html) < 120_000, bytes.Contains(svg, []byte("Queue by goodput")))
	// Output: true true true
}

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
	//  metric                  laptop    night  change    diff
	// ─────────────────────────────────────────────────────────
	//  engine                   model  virtual
	//  verdict                   PASS     PASS
	//  goodput, Gbps per host   90.00    91.80   +1.80  +2.0 %
	//  queue max, KB                0        0       0
	//  queue mean, KB               0        0       0
	//  queue p99.9, KB              0        0       0
	//  change: the second less the first; diff: as a share of the first.
}
