package stats

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
)

// The definition, by counting: the smallest sample that at least a share q of
// the samples do not exceed.
func bruteQuantile(values []float64, q float64) float64 {
	best := math.Inf(1)
	for _, v := range values {
		n := 0
		for _, w := range values {
			if w <= v {
				n++
			}
		}
		if float64(n) >= q*float64(len(values))-1e-9 && v < best {
			best = v
		}
	}
	return best
}

func TestQuantileIsNearestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		values := make([]float64, 1+rng.IntN(250))
		for i := range values {
			values[i] = float64(rng.IntN(50))
		}
		d := New(append([]float64(nil), values...))
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1, rng.Float64()} {
			if got, want := d.Quantile(q), bruteQuantile(values, q); got != want {
				t.Fatalf("q %v of %v samples = %v, want %v", q, len(values), got, want)
			}
		}
	}
	thousand := make([]float64, 1000)
	for i := range thousand {
		thousand[i] = float64(i + 1)
	}
	s := New(thousand).Summary()
	if s.P50 != 500 || s.P90 != 900 || s.P99 != 990 || s.P999 != 999 || s.Max != 1000 || s.Mean != 500.5 || s.Few {
		t.Errorf("of 1 to 1000: got %+v, want percentiles of 500, 900, 990 and 999, and a mean of 500.5", s)
	}
	if s := New(nil).Summary(); s.Count != 0 || s.P99 != 0 || !s.Few {
		t.Errorf("of nothing: got %+v, want zeros, and too few", s)
	}
}

func TestCDFIsThinnedAndKeepsItsEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 100000)
	for i := range values {
		values[i] = rng.ExpFloat64()
	}
	d := New(values)
	c := d.CDF(500)
	if len(c) > 500 || len(c) < 300 {
		t.Errorf("%d points, want 300 to 500", len(c))
	}
	if !sort.SliceIsSorted(c, func(i, j int) bool { return c[i].Y < c[j].Y }) {
		t.Error("not increasing")
	}
	if last := c[len(c)-1]; last.Y != 1 || last.X != d.Quantile(1) {
		t.Errorf("ends at %v, want the maximum %v", last, d.Quantile(1))
	}
	for _, p := range c {
		if got := d.Quantile(p.Y); got != p.X {
			t.Fatalf("the curve has %v, want %v there", p, got)
		}
	}
}

func TestWeightedAgreesWithRepeating(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		var w Weighted
		var flat []float64
		for range 1 + rng.IntN(30) {
			v, n := float64(rng.IntN(9)), rng.IntN(5)
			w.Add(v, float64(n))
			for range n {
				flat = append(flat, v)
			}
		}
		if len(flat) == 0 {
			continue
		}
		d := New(flat)
		for _, q := range []float64{0.5, 0.9, 0.99, 1} {
			if got, want := w.Quantile(q), d.Quantile(q); got != want {
				t.Fatalf("q %v = %v, want %v of %v", q, got, want, flat)
			}
		}
		if math.Abs(w.Mean()-d.Mean()) > 1e-9 || w.Max() != d.Quantile(1) {
			t.Fatalf("mean %v max %v, want %v %v", w.Mean(), w.Max(), d.Mean(), d.Quantile(1))
		}
	}
}
