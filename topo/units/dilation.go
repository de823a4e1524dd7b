package units

import (
	"math"
	"math/bits"
)

// A Dilation is how many ns of the kernel's clock one nominal ns lasts: a whole
// number from 1 to MaxDilation. 0 is none yet, for an engine to choose.
//
// Whole, it makes every nominal time a time of the kernel's clock exactly. Its
// methods take one that is chosen.
type Dilation int64

// MaxDilation is the largest dilation: a nominal second lasts eleven days.
const MaxDilation Dilation = 1_000_000

// ToKernel returns how many ns of the kernel's clock a nominal span lasts; beyond
// their range, the largest (or smallest) there is.
func (d Dilation) ToKernel(t Time) int64 {
	if t < 0 {
		return -d.ToKernel(-max(t, -Never))
	}
	hi, lo := bits.Mul64(uint64(t), uint64(d))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// ToNominal returns the nominal ns that have passed in a span of the kernel's
// clock, rounded down.
func (d Dilation) ToNominal(ns int64) Time {
	t := Time(ns / int64(d))
	if ns%int64(d) < 0 {
		t--
	}
	return t
}

// Rate returns a nominal rate by the kernel's clock, rounded to the nearest bit/s.
func (d Dilation) Rate(r BitsPerSecond) BitsPerSecond {
	return (r + BitsPerSecond(d)/2) / BitsPerSecond(d)
}
