//go:build linux

package clock

import (
	"testing"
	"time"
)

// A realtime reading between two monotonic ones converts to a time between
// them, within the stated uncertainty.
func TestRealtimeConvertsWithinItsUncertainty(t *testing.T) {
	r := NewRealtime()
	for range 10000 {
		before := Monotonic()
		got := r.ToMonotonic(time.Now().UnixNano())
		after := Monotonic()
		if u := r.Uncertainty(); r.Steps() == 0 && (got < before-u || got > after+u) {
			t.Fatalf("%d is not within %d ns of [%d, %d]", got, u, before, after)
		}
		r.measure()
	}
	t.Logf("uncertain by %d ns", r.Uncertainty())
}

// Against clocks whose difference is known.
func TestRealtimeClosesInAndNoticesSteps(t *testing.T) {
	const truth = 1_700_000_000_000_000_123
	r := &Realtime{lo: truth - 90, hi: truth + 400}
	for i := int64(1); i < 40; i++ {
		r.add(truth-i*7%41, truth+i*11%43)
		if r.Steps() != 0 {
			t.Fatalf("a step was seen where there is none")
		}
		if off := r.ToMonotonic(truth); off < -r.Uncertainty() || off > r.Uncertainty() {
			t.Fatalf("off by %d, said to be within %d", off, r.Uncertainty())
		}
	}
	if r.Uncertainty() > 2 {
		t.Errorf("still uncertain by %d ns", r.Uncertainty())
	}
	r.add(truth+1_000_000-50, truth+1_000_000+50)
	if r.Steps() != 1 || r.ToMonotonic(truth+1_000_000) != 0 {
		t.Errorf("%d steps, off by %d after one", r.Steps(), r.ToMonotonic(truth+1_000_000))
	}
}

func TestTrackMeasuresSeldom(t *testing.T) {
	r := NewRealtime()
	at := r.measured
	r.Track(at + trackEvery - 1)
	if r.measured != at {
		t.Error("measured too early")
	}
	r.Track(at + trackEvery)
	if r.measured == at {
		t.Error("did not measure when due")
	}
}
