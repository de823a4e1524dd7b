package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Each figure of a Histogram is that of all samples, to within a bin.
func TestHistogramAgreesWithAllSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for round := range 40 {
		h, values := &Histogram{}, []float64{}
		for range 1 + rng.IntN(3000) {
			v := math.Exp(rng.NormFloat64() * float64(1+round%5))
			if rng.IntN(20) == 0 {
				v = 0
			}
			values = append(values, v)
			h.Add(v, 1)
		}
		d := New(values)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			got, want := h.Quantile(q), d.Quantile(q)
			if math.Abs(got-want) > want/(1<<DefaultBits) {
				t.Fatalf("round %d: quantile %v is %v, want %v", round, q, got, want)
			}
		}
		s, want := h.Summary(), d.Summary()
		if s.Count != want.Count || s.Min != want.Min || s.Max != want.Max || s.Few != want.Few ||
			math.Abs(s.Mean-want.Mean) > 1e-12*want.Mean {
			t.Fatalf("round %d: summary is %+v, want %+v", round, s, want)
		}
	}
}

// The parts of a set of samples, merged, are the whole, in whatever order.
func TestHistogramsMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	whole, parts := NewHistogram(6), [3]*Histogram{NewHistogram(6), NewHistogram(6), NewHistogram(6)}
	for i := range 5000 {
		v, w := float64(rng.IntN(1<<20)), uint64(rng.IntN(4))
		whole.Add(v, w)
		parts[i%3].Add(v, w)
	}
	sum := NewHistogram(6)
	for _, p := range []*Histogram{parts[2], parts[0], NewHistogram(6), parts[1]} {
		sum.Merge(p)
	}
	if !reflect.DeepEqual(sum, whole) {
		t.Errorf("merged %+v, want %+v", sum.Summary(), whole.Summary())
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	if s := h.Summary(); s.Count != 0 || s.P99 != 0 || !s.Few || h.Curve([]float64{0.5}) != nil {
		t.Errorf("of nothing: %+v", s)
	}
	h.Add(math.Inf(1), 1)
	h.Add(math.NaN(), 1)
	h.Add(-3, 2)
	if h.Total() != 2 || h.Quantile(1) != 0 {
		t.Errorf("%d samples, up to %v", h.Total(), h.Quantile(1))
	}
}
