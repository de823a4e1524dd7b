// Package clock is a host process's view of time: the one place besides
// package emu that knows how far the kernel's clock is stretched.
//
// Three times are in play, all in ns:
//
//   - nominal, units.Time: what scenarios, protocols and logs speak. 0 is the
//     start of the run.
//   - monotonic, int64: CLOCK_MONOTONIC, what the kernel's timers obey.
//   - realtime, int64: CLOCK_REALTIME, in which packet sockets stamp frames.
//
// A Clock maps nominal to monotonic time and back, a Realtime realtime to
// monotonic time. A Lateness collects how late a host was.
package clock

import (
	"fmt"
	"math"
	"math/bits"

	"sirdbed/topo/units"
)

// Bounds of a dilation. Below 1 the kernel would have to run faster than
// nominal time; above the maximum a second would last weeks.
const (
	MinDilation = 1
	MaxDilation = 1e6
	// dilationStep is the resolution of a dilation: 1/1000.
	dilationStep = 1000
)

// A Clock maps nominal time to the kernel's monotonic clock: nominal 0 is its
// origin, and one nominal ns lasts D monotonic ns. Rounding is such that
//
//   - Now is the last whole nominal ns that has begun: ToNominal rounds down;
//   - whoever waits until ToKernel(t) finds that Now is t: ToKernel rounds up,
//     and ToNominal(ToKernel(t)) == t;
//   - both never decrease, and for an integer D ToKernel is exact.
//
// A Clock is immutable and safe for concurrent use.
type Clock struct {
	origin int64
	// The dilation as a reduced fraction: 128-bit integer arithmetic keeps the
	// mapping exact over any span, where a float64 would lose ns after months.
	num, den uint64
}

// New returns a clock whose nominal 0 is at the monotonic time origin (not
// negative), stretched by dilation: a multiple of 0.001 from MinDilation to
// MaxDilation.
func New(origin int64, dilation float64) (*Clock, error) {
	if origin < 0 {
		return nil, fmt.Errorf("clock origin %d is before the machine's start", origin)
	}
	if !(dilation >= MinDilation && dilation <= MaxDilation) {
		return nil, fmt.Errorf("dilation %v: want %v to %v", dilation, MinDilation, int(MaxDilation))
	}
	steps := math.Round(dilation * dilationStep)
	if math.Abs(dilation*dilationStep-steps) > 1e-6*steps/dilationStep {
		return nil, fmt.Errorf("dilation %v: want a multiple of %v", dilation, 1.0/dilationStep)
	}
	num, den := uint64(steps), uint64(dilationStep)
	g := gcd(num, den)
	return &Clock{origin: origin, num: num / g, den: den / g}, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Dilation returns how many monotonic ns a nominal ns lasts.
func (c *Clock) Dilation() float64 { return float64(c.num) / float64(c.den) }

// Origin returns the monotonic time of nominal 0.
func (c *Clock) Origin() int64 { return c.origin }

// Now returns the nominal time. It never decreases.
func (c *Clock) Now() units.Time { return c.ToNominal(Monotonic()) }

// ToNominal returns the nominal time at a monotonic time, rounded down;
// negative before the origin. Forever is units.Never.
func (c *Clock) ToNominal(monotonic int64) units.Time {
	if monotonic == Forever {
		return units.Never
	}
	span := monotonic - c.origin
	if span >= 0 {
		q, _ := c.divide(uint64(span), c.den, c.num)
		return units.Time(q)
	}
	q, r := c.divide(uint64(-span), c.den, c.num)
	if r > 0 {
		q++
	}
	return -units.Time(q)
}

// ToKernel returns the first monotonic time at which nominal time is t. It is
// Forever for units.Never and for times out of the kernel's range.
func (c *Clock) ToKernel(t units.Time) int64 {
	if t < 0 {
		q, _ := c.divide(uint64(-t), c.num, c.den)
		if q > uint64(c.origin) {
			return 0 // before the machine's start: long past
		}
		return c.origin - int64(q)
	}
	q, r := c.divide(uint64(t), c.num, c.den)
	if r > 0 {
		q++
	}
	if q > uint64(Forever-c.origin) {
		return Forever
	}
	return c.origin + int64(q)
}

// divide returns v*num/den and the remainder, all ones when the quotient does
// not fit.
func (c *Clock) divide(v, num, den uint64) (q, r uint64) {
	hi, lo := bits.Mul64(v, num)
	if hi >= den {
		return math.MaxUint64, 0
	}
	return bits.Div64(hi, lo, den)
}

// Span returns how many monotonic ns a nominal span lasts, rounded up; t must
// not be negative.
func (c *Clock) Span(t units.Time) int64 {
	q, r := c.divide(uint64(t), c.num, c.den)
	if r > 0 {
		q++
	}
	if q > uint64(Forever) {
		return Forever
	}
	return int64(q)
}

// WaitUntil blocks the calling thread until Now has reached t; see SleepUntil.
// A caller that also waits for packets uses ring.Socket.Wait instead.
func (c *Clock) WaitUntil(t units.Time) error { return SleepUntil(c.ToKernel(t)) }
