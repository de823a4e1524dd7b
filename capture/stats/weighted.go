package stats

import "sort"

// Weighted is a set of values each of which held for a while, such as the
// depth of a queue. The zero value is empty.
type Weighted struct {
	values []weighted
	total  float64
	sum    float64
	sorted bool
}

type weighted struct{ value, weight float64 }

// Add says that value held for weight, which counts only when positive.
func (w *Weighted) Add(value, weight float64) {
	if weight <= 0 {
		return
	}
	w.values = append(w.values, weighted{value, weight})
	w.total += weight
	w.sum += value * weight
	w.sorted = false
}

// Total is the sum of the weights.
func (w *Weighted) Total() float64 { return w.total }

// Mean is the weighted mean, 0 when empty.
func (w *Weighted) Mean() float64 {
	if w.total == 0 {
		return 0
	}
	return w.sum / w.total
}

// Max is the largest value, 0 when empty.
func (w *Weighted) Max() (m float64) {
	for i, v := range w.values {
		if i == 0 || v.value > m {
			m = v.value
		}
	}
	return m
}

// Quantile is the smallest value such that values up to it held for a share q
// of the total weight; 0 when empty.
func (w *Weighted) Quantile(q float64) float64 {
	if len(w.values) == 0 {
		return 0
	}
	if !w.sorted {
		sort.Slice(w.values, func(i, j int) bool { return w.values[i].value < w.values[j].value })
		w.sorted = true
	}
	target, below := q*w.total*(1-1e-12), 0.0
	for _, v := range w.values {
		if below += v.weight; below >= target {
			return v.value
		}
	}
	return w.values[len(w.values)-1].value
}

// Merge adds everything that other holds.
func (w *Weighted) Merge(other *Weighted) {
	w.values = append(w.values, other.values...)
	w.total += other.total
	w.sum += other.sum
	w.sorted = false
}
