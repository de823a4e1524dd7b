// Package stats is the arithmetic of a report: percentiles with their sample
// counts, and percentiles weighted by time.
//
// A percentile here is the nearest rank: pQ is the smallest sample that at
// least a share Q of the samples do not exceed. It is always a value that was
// measured.
package stats

import (
	"math"
	"sort"
)

// FewSamples is the count below which a report marks percentiles, as the released
// scripts do (scenarios/README, Slowdown).
const FewSamples = 100

// Summary is what a report says about a set of samples. Quantities keep the
// unit of the samples; all are 0 when Count is.
type Summary struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Max   float64 `json:"max"`
	Few   bool    `json:"few_samples,omitempty"` // fewer than FewSamples
}

// Mean is the mean of a list, 0 of nothing.
func Mean(list []float64) (mean float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	return mean
}

// Distribution is a set of samples. It does not change once made.
type Distribution struct {
	sorted []float64
	sum    float64
}

// New makes a Distribution of values, which it sorts and keeps.
func New(values []float64) *Distribution {
	sort.Float64s(values)
	d := &Distribution{sorted: values}
	for _, v := range values {
		d.sum += v
	}
	return d
}

// Count is the number of samples.
func (d *Distribution) Count() int { return len(d.sorted) }

// Mean is the mean of the samples, 0 without any.
func (d *Distribution) Mean() float64 {
	if len(d.sorted) == 0 {
		return 0
	}
	return d.sum / float64(len(d.sorted))
}

// rank is the index of the nearest rank of q among n samples.
func rank(q float64, n int) int {
	// In binary 0.999*1000 is a little more than 999; the slack takes that off.
	i := int(math.Ceil(q*float64(n)-1e-9)) - 1
	return max(0, min(n-1, i))
}

// Quantile is the sample at the nearest rank of q, from 0 to 1; 0 without any
// sample.
func (d *Distribution) Quantile(q float64) float64 {
	if len(d.sorted) == 0 {
		return 0
	}
	return d.sorted[rank(q, len(d.sorted))]
}

// Summary sums the samples up.
func (d *Distribution) Summary() Summary {
	return Summary{
		Count: d.Count(), Mean: d.Mean(), Few: d.Count() < FewSamples,
		Min: d.Quantile(0), P50: d.Quantile(0.5), P90: d.Quantile(0.9),
		P99: d.Quantile(0.99), P999: d.Quantile(0.999), Max: d.Quantile(1),
	}
}

// A Point is a point of a curve.
type Point struct{ X, Y float64 }

// CDF returns the cumulative distribution as at most limit points: X is a sample, Y
// the share of samples up to it. Half of the points are spaced evenly; those of the
// other half close in on 1, so that the tail is kept.
func (d *Distribution) CDF(limit int) []Point {
	n := len(d.sorted)
	if n == 0 || limit < 2 {
		return nil
	}
	keep := make([]int, 0, limit)
	if n <= limit {
		for i := range n {
			keep = append(keep, i)
		}
	} else {
		body := limit / 2
		for i := range body {
			keep = append(keep, i*(n-1)/body)
		}
		tail := limit - body
		for i := range tail {
			left := math.Pow(float64(n), 1-float64(i)/float64(tail-1)) // n down to 1 samples above
			keep = append(keep, n-int(math.Round(left)))
		}
		sort.Ints(keep)
	}
	var points []Point
	for i, k := range keep {
		if i > 0 && k == keep[i-1] {
			continue
		}
		points = append(points, Point{d.sorted[k], float64(k+1) / float64(n)})
	}
	return points
}
