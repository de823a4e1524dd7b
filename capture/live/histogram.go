package live

import (
	"fmt"
	"math"

	"sirdbed/capture/results"
)

// A histogram counts slowdowns in classes of 2 %, so that its quantiles are off by at most
// 1 %, however many messages there are.
type histogram struct {
	counts [classes]int64
	n      int64
}

const (
	classes = 700 // up to a slowdown of a million
	step    = 1.02
)

func (h *histogram) add(slowdown float64) {
	i := 0
	if slowdown > 1 { // no message is faster than the fastest, rounding aside
		i = min(classes-1, int(math.Log(slowdown)/math.Log(step)))
	}
	h.counts[i]++
	h.n++
}

// merge adds another's counts.
func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.n += o.n
}

// quantile is the middle of the class in which the quantile p lies, 0 of none.
func (h *histogram) quantile(p float64) float64 {
	if h.n == 0 {
		return 0
	}
	left := int64(math.Ceil(p * float64(h.n)))
	for i, n := range h.counts {
		if left -= n; left <= 0 {
			return math.Pow(step, float64(i)+0.5)
		}
	}
	return math.Pow(step, classes)
}

// borders describes the size groups, A first, as "< 1.46 KB".
func borders() (list []string) {
	last := ""
	for _, b := range results.DefaultBorders {
		last = fmt.Sprintf("%g KB", float64(b)/1e3)
		list = append(list, "< "+last)
	}
	return append(list, "≥ "+last)
}
