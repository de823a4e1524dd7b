//go:build linux

package clock

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBucketsTileAllValues(t *testing.T) {
	next := int64(0)
	for i := range bucketCount {
		if firstOf(i) != next {
			t.Fatalf("bucket %d begins at %d, want %d", i, firstOf(i), next)
		}
		if bucketOf(firstOf(i)) != i || bucketOf(lastOf(i)) != i {
			t.Fatalf("bucket %d does not have its own bounds", i)
		}
		next = lastOf(i) + 1
	}
	if lastOf(bucketCount-1) != math.MaxInt64 {
		t.Errorf("the last bucket ends at %d", lastOf(bucketCount-1))
	}
}

func TestQuantileAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 3000; n += 1 + n/3 {
		var l Lateness
		var all []int64
		for range n {
			v := int64(math.Exp(r.Float64() * 25))
			l.Add(v)
			all = append(all, v)
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
			exact := all[max(0, int(math.Ceil(q*float64(n)))-1)]
			got := l.Quantile(q)
			if got < exact || float64(got) > float64(exact)*(1+1.0/subBuckets) {
				t.Fatalf("n=%d q=%v: %d, exact %d", n, q, got, exact)
			}
		}
		if l.Max() != all[n-1] || l.Quantile(1) != all[n-1] || l.Count() != uint64(n) {
			t.Fatalf("n=%d: max %d, count %d", n, l.Max(), l.Count())
		}
	}
}

func TestEarlyIsNotLate(t *testing.T) {
	var l Lateness
	if l.Quantile(0.5) != 0 || l.Max() != 0 || l.Mean() != 0 {
		t.Error("empty is not 0")
	}
	l.Add(-5)
	l.Add(10)
	if l.Count() != 2 || l.Quantile(0.5) != 0 || l.Mean() != 5 {
		t.Errorf("count %d, median %d, mean %v", l.Count(), l.Quantile(0.5), l.Mean())
	}
}

func TestLatenessMergesAndTravelsAsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var both, a, b Lateness
	for i := range 5000 {
		v := r.Int64N(1 << (i % 62))
		both.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	type report struct{ Lateness Lateness }
	data, err := json.Marshal(report{b}) // by value, as reports have it
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	a.Merge(&read.Lateness)
	if a.buckets != both.buckets || a.Max() != both.Max() || a.Count() != both.Count() {
		t.Error("merged differs from all added to one")
	}
	if math.Abs(a.Mean()-both.Mean()) > 1e-9*both.Mean() {
		t.Errorf("mean %v, want %v", a.Mean(), both.Mean())
	}
	for _, bad := range []string{
		`{"count":1,"buckets":[[65,1]]}`,
		`{"count":2,"buckets":[[64,1]]}`,
		`{"count":1,"buckets":[[9223372036854775808,1]]}`,
	} {
		if err := json.Unmarshal([]byte(bad), &read.Lateness); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
