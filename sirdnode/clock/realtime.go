//go:build linux

package clock

import "time"

// A Realtime converts CLOCK_REALTIME, in which the kernel stamps frames, to
// CLOCK_MONOTONIC.
//
// The kernel derives both from one counter and slews them together
// (kernel/time/timekeeping.c), so their difference is a constant of whole ns
// until somebody sets the date. A reading of realtime between two readings of
// monotonic time bounds it; the intersection of all bounds closes in on it, some
// tens of ns within a few readings, and an empty intersection means that the
// machine's date was stepped. Frames stamped before a step and converted after
// it are off by the step: Steps counts.
//
// A Realtime belongs to one goroutine. Nothing allocates.
type Realtime struct {
	lo, hi   int64 // realtime - monotonic lies within
	measured int64 // monotonic time of the last measurement
	steps    int
}

// Bounds of measuring: how often NewRealtime reads, and the least monotonic
// time between two measurements of Track.
const (
	firstReadings = 16
	trackEvery    = int64(100 * time.Millisecond)
)

// NewRealtime measures the difference of the two clocks.
func NewRealtime() *Realtime {
	r := &Realtime{}
	r.lo, r.hi, r.measured = bracket()
	for range firstReadings - 1 {
		r.measure()
	}
	return r
}

// ToMonotonic converts a realtime to monotonic time, right within Uncertainty.
func (r *Realtime) ToMonotonic(realtime int64) int64 {
	return realtime - (r.lo + (r.hi-r.lo)/2)
}

// Track measures again if the last measurement is 100 ms old at the monotonic
// time now. A host calls it once per turn of its loop; most calls cost a
// comparison.
func (r *Realtime) Track(now int64) {
	if now-r.measured >= trackEvery {
		r.measure()
	}
}

func (r *Realtime) measure() {
	lo, hi, at := bracket()
	r.add(lo, hi)
	r.measured = at
}

// add intersects what is known with a new measurement.
func (r *Realtime) add(lo, hi int64) {
	if lo > r.hi || hi < r.lo {
		r.steps++
		r.lo, r.hi = lo, hi
		return
	}
	r.lo, r.hi = max(r.lo, lo), min(r.hi, hi)
}

// bracket reads realtime between two readings of monotonic time and returns
// the bounds of their difference.
func bracket() (lo, hi, at int64) {
	before := Monotonic()
	realtime := time.Now().UnixNano()
	after := Monotonic()
	return realtime - after, realtime - before, after
}
