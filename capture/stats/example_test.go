package stats_test

import (
	"fmt"

	"sirdbed/capture/stats"
)

// Percentiles are samples, by the nearest rank.
func ExampleDistribution() {
	d := stats.New([]float64{12, 10, 11, 90})
	fmt.Println(d.Quantile(0.5), d.Quantile(0.99), d.Mean())
	fmt.Println("too few for percentiles to mean much:", d.Summary().Few)
	// Output:
	// 11 90 30.75
	// too few for percentiles to mean much: true
}

// A queue of 100 bytes for 9 us and 5000 for one.
func ExampleWeighted() {
	var depth stats.Weighted
	depth.Add(100, 9)
	depth.Add(5000, 1)
	fmt.Println(depth.Mean(), depth.Quantile(0.9), depth.Quantile(0.99))
	// Output:
	// 590 100 5000
}
