package capture_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"sirdbed/capture"
	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/internal/leafsim"
	"sirdbed/topo/units"
)

// Depths by windows of the capture are those of the capture as a whole.
func TestDepthsByWindowsAreThoseOfTheWhole(t *testing.T) {
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	for seed := range uint64(4) {
		s := leafsim.Simulate(r.F, 3000, 1000, rand.New(rand.NewPCG(seed, 1)))
		whole, err := capture.Reconstruct(r.F, leaf, replay(s.Frames, nil))
		must(t, err)
		for _, window := range []int{900, 2500, 1 << 20} {
			depths, err := capture.DepthsBy(r.F, leaf, replay(s.Frames, nil), window, 600)
			must(t, err)
			n := 0
			for _, d := range depths {
				for _, q := range whole.Ports {
					if q.Port != d.Port {
						continue
					}
					n++
					most, mean := q.Between(whole.From, whole.To+1)
					if d.Max() != most.Bytes || math.Abs(d.Mean()-mean) > 1e-6*mean {
						t.Errorf("seed %d, windows of %d: %s is %d deep at most and %.3f on average, want %d and %.3f",
							seed, window, q.Port.Name, d.Max(), d.Mean(), most.Bytes, mean)
					}
					if d.Packets != q.Packets {
						t.Errorf("seed %d, windows of %d: %s has %d packets, want %d", seed, window, q.Port.Name,
							d.Packets, q.Packets)
					}
				}
			}
			if n == 0 {
				t.Error("no port has a queue: the test tests nothing")
			}
		}
	}
}

func TestDepthQuantileIsOfTime(t *testing.T) {
	d := capture.Held(map[int64]units.Time{0: 90, 500: 9, 9000: 1})
	for q, want := range map[float64]int64{0.5: 0, 0.9: 0, 0.95: 500, 0.99: 500, 0.999: 9000, 1: 9000} {
		if got := d.Quantile(q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if d.Max() != 9000 || d.Mean() != 135 {
		t.Errorf("max %d, mean %v; want 9000 and 135", d.Max(), d.Mean())
	}
}
