// Package units has the quantities that every part of sirdbed uses: nominal time,
// bytes and link rates. They are what a scenario file states, what a
// protocol computes with and what a report prints; only the emu package and the
// host process's clock know how nominal time maps to this machine's clock.
//
// All types are plain integers: they may be compared, added and shared freely.
package units

import (
	"math"
	"math/bits"
)

// Time is a point in, or a span of, nominal time in nanoseconds. A run starts
// at 0.
type Time int64

// Spans of nominal time.
const (
	Nanosecond  Time = 1
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Never is later than every event of a run.
	Never Time = math.MaxInt64
)

// Bytes is an amount of data, of payload or wire bytes; which of them is documented
// where it is used.
type Bytes int64

// Amounts of data. The field's KB is 1000 bytes.
const (
	Byte     Bytes = 1
	Kilobyte       = 1000 * Byte
	Megabyte       = 1000 * Kilobyte
	Gigabyte       = 1000 * Megabyte

	// Unlimited is the value of a limit that never applies.
	Unlimited Bytes = math.MaxInt64
)

// BitsPerSecond is a nominal rate. Link rates are wire rates: they count
// preamble, gap and frame check sequence.
type BitsPerSecond int64

// Rates.
const (
	BitPerSecond BitsPerSecond = 1
	Kbps                       = 1000 * BitPerSecond
	Mbps                       = 1000 * Kbps
	Gbps                       = 1000 * Mbps
	Tbps                       = 1000 * Gbps
)

// Microseconds is t in us, for printing and plotting.
func (t Time) Microseconds() float64 { return float64(t) / float64(Microsecond) }

// Milliseconds is t in ms, for printing and plotting.
func (t Time) Milliseconds() float64 { return float64(t) / float64(Millisecond) }

// Seconds is t in s.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Gigabits is r in Gbps, for printing and plotting.
func (r BitsPerSecond) Gigabits() float64 { return float64(r) / float64(Gbps) }

// Picoseconds returns how long b bytes occupy a link of rate r, in picoseconds,
// rounded to the nearest. A minimal packet lasts 1.68 ns at 400 Gbps, so
// whatever adds up serialization times adds them in picoseconds. r must be
// positive. What is beyond its range, as b of 2^40 and more may be, is the longest
// there is.
func (r BitsPerSecond) Picoseconds(b Bytes) int64 {
	hi, lo := bits.Mul64(uint64(b), 8e12)
	if hi >= uint64(r) {
		return math.MaxInt64
	}
	q, rem := bits.Div64(hi, lo, uint64(r))
	if rem >= uint64(r)-rem {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// TimeFor returns how long b bytes occupy a link of rate r, rounded to the
// nearest nanosecond.
func (r BitsPerSecond) TimeFor(b Bytes) Time {
	ps := r.Picoseconds(b)
	return Time(ps/1000 + ps%1000/500) // rounded
}

// BytesIn returns how many whole bytes a link of rate r carries in t, Unlimited if
// they are more than fit.
func (r BitsPerSecond) BytesIn(t Time) Bytes {
	if t <= 0 || r <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(t), uint64(r))
	if hi >= 4*uint64(Second) {
		return Unlimited
	}
	q, _ := bits.Div64(hi, lo, 8*uint64(Second))
	return Bytes(q)
}
