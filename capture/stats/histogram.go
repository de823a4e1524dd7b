package stats

import "math"

// A Histogram is a set of samples in logarithmic bins: what a value was is known to
// within a share of 2^-bits of it, the mean and the extremes exactly. It takes memory by
// the span of its values, not by their number. Histograms of the same bits can be added;
// which bin a value is in depends on nothing but the value, so that the same samples make
// the same Histogram everywhere. The zero value is empty and has DefaultBits.
//
// It is for one goroutine.
type Histogram struct {
	bits     uint // 0: DefaultBits
	octaves  map[int][]uint64
	zero     uint64 // weight of samples that are 0 or less
	total    uint64
	sum      float64
	min, max float64
}

// DefaultBits is the resolution of a Histogram unless it is made with another: bins are
// 0.05 to 0.1 % wide.
const DefaultBits = 10

// NewHistogram makes an empty Histogram whose bins are at most a share of 2^-bits wide,
// of 1 to 16 bits.
func NewHistogram(bits uint) *Histogram { return &Histogram{bits: min(max(bits, 1), 16)} }

func (h *Histogram) resolution() uint {
	if h.bits == 0 {
		return DefaultBits
	}
	return h.bits
}

// Add counts a value weight times: once for a sample, or the ns for which it held.
// Values below 0 count as 0.
func (h *Histogram) Add(value float64, weight uint64) {
	if weight == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	value = max(value, 0)
	if h.total == 0 {
		h.min, h.max = value, value
	}
	h.min, h.max = min(h.min, value), max(h.max, value)
	h.total += weight
	h.sum += value * float64(weight)
	if value == 0 {
		h.zero += weight
		return
	}
	octave, bin := h.place(value)
	if h.octaves == nil {
		h.octaves = map[int][]uint64{}
	}
	bins := h.octaves[octave]
	if bins == nil {
		bins = make([]uint64, 1<<h.resolution())
		h.octaves[octave] = bins
	}
	bins[bin] += weight
}

// place is the bin of a value above 0: its exponent in binary, and the first bits of
// what follows the leading one.
func (h *Histogram) place(value float64) (octave, bin int) {
	const mantissa = 52
	b := math.Float64bits(value)
	return int(b >> mantissa), int(b<<12>>12) >> (mantissa - h.resolution())
}

// value is the middle of a bin, or where all samples lie to one side of it, the nearest
// that there can be.
func (h *Histogram) value(octave, bin int) float64 {
	const mantissa = 52
	width := uint64(1) << (mantissa - h.resolution())
	v := math.Float64frombits(uint64(octave)<<mantissa | uint64(bin)*width + width/2)
	return min(max(v, h.min), h.max)
}

// Merge adds everything that other holds, which has the same bits.
func (h *Histogram) Merge(other *Histogram) {
	if other.total == 0 {
		return
	}
	if h.resolution() != other.resolution() {
		panic("stats: histograms of different bits")
	}
	if h.total == 0 {
		h.min, h.max = other.min, other.max
	}
	h.min, h.max = min(h.min, other.min), max(h.max, other.max)
	h.total, h.sum, h.zero = h.total+other.total, h.sum+other.sum, h.zero+other.zero
	for octave, bins := range other.octaves {
		if h.octaves == nil {
			h.octaves = map[int][]uint64{}
		}
		if h.octaves[octave] == nil {
			h.octaves[octave] = make([]uint64, len(bins))
		}
		for i, n := range bins {
			h.octaves[octave][i] += n
		}
	}
}

// Total is the sum of all weights.
func (h *Histogram) Total() uint64 { return h.total }

// Max is the largest value, 0 when empty.
func (h *Histogram) Max() float64 { return h.max }

// Mean is the weighted mean, 0 when empty.
func (h *Histogram) Mean() float64 {
	if h.total == 0 {
		return 0
	}
	return h.sum / float64(h.total)
}

// Quantile is the value at the nearest rank of q, from 0 to 1, to within its bin; 0 when
// empty.
func (h *Histogram) Quantile(q float64) float64 {
	v := 0.0
	h.quantiles([]float64{q}, func(_ int, value float64) { v = value })
	return v
}

// Curve returns the values at the ranks qs, from 0 to 1, in increasing order; nil when
// empty.
func (h *Histogram) Curve(qs []float64) (values []float64) {
	h.quantiles(qs, func(_ int, value float64) { values = append(values, value) })
	return values
}

// quantiles finds the values at increasing ranks.
func (h *Histogram) quantiles(qs []float64, found func(i int, value float64)) {
	if h.total == 0 {
		return
	}
	next, below := 0, uint64(0)
	reach := func(value float64, weight uint64) {
		below += weight
		for next < len(qs) && below > uint64(rank(qs[next], int(h.total))) {
			found(next, value)
			next++
		}
	}
	reach(h.min, 0)
	if h.zero > 0 {
		reach(0, h.zero)
	}
	for octave := range 1 << 11 {
		for bin, n := range h.octaves[octave] {
			if n > 0 {
				reach(h.value(octave, bin), n)
			}
		}
	}
}

// Summary sums the samples up.
func (h *Histogram) Summary() Summary {
	s := Summary{Count: int(h.total), Mean: h.Mean(), Few: h.total < FewSamples, Min: h.min, Max: h.max}
	if q := h.Curve([]float64{0.5, 0.9, 0.99, 0.999}); q != nil {
		s.P50, s.P90, s.P99, s.P999 = q[0], q[1], q[2], q[3]
	}
	return s
}
