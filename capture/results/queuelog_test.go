package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// The statistics of sampled queues, tick by tick.
func TestQueueStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	r := fakerun.New(t, fakerun.OneWay)
	leaf, _ := r.F.Node("leaf1")
	now := make([]int64, len(r.F.Ports))
	from, to := r.X.Window()
	var sums, port []float64
	for at := units.Time(0); at < 10*ms; at += 10 * us {
		for p := range now {
			if rng.IntN(3) == 0 {
				now[p] = int64(rng.IntN(5)) * 1500
				r.Queues = append(r.Queues, record.Record{Kind: record.Queue, Peer: uint16(p),
					At: at + units.Time(rng.IntN(3000)), N: now[p]})
			}
		}
		r.Queues = append(r.Queues, record.Record{Kind: record.Tick, At: at})
		if at >= from && at < to {
			sum := 0.0
			for _, p := range leaf.Ports {
				sum += float64(now[p])
			}
			sums = append(sums, sum)
			port = append(port, float64(now[leaf.Ports[0]]))
		}
	}
	v := analyze(t, r)
	check := func(what string, got QueueStats, values []float64) {
		slices.Sort(values)
		mean := 0.0
		for _, x := range values {
			mean += x / float64(len(values))
		}
		p99 := values[int(math.Ceil(0.99*float64(len(values))))-1]
		if float64(got.Max) != values[len(values)-1] || math.Abs(got.Mean-mean) > 1e-6 || float64(got.P99) != p99 {
			t.Errorf("%s: %+v, want max %v mean %v p99 %v", what, got, values[len(values)-1], mean, p99)
		}
	}
	check("leaf1", v.Queue.Switches["leaf1"], sums)
	check("a port", v.Queue.Ports[r.F.Ports[leaf.Ports[0]].Name], port)
	if v.Queue.Samples != 800 {
		t.Errorf("%d samples", v.Queue.Samples)
	}
}
