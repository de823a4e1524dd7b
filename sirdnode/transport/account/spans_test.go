package account

import (
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/transport"
)

// Spans against a plain bitmap, over random ranges.
func TestSpansMatchBitmap(t *testing.T) {
	const size = 64
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Spans
		var have [size]bool
		for range 20 {
			from := r.IntN(size)
			to := from + r.IntN(size-from+1)
			var want transport.Bytes
			for i := from; i < to; i++ {
				if !have[i] {
					want++
				}
				have[i] = true
			}
			if got := s.Add(transport.Bytes(from), transport.Bytes(to)); got != want {
				t.Fatalf("seed %d: [%d,%d) added %d, want %d", seed, from, to, got, want)
			}
			total, contiguous := transport.Bytes(0), transport.Bytes(0)
			for i := range have {
				if have[i] {
					total++
				}
			}
			for contiguous < size && have[contiguous] {
				contiguous++
			}
			if s.Total() != total || s.Contiguous() != contiguous {
				t.Fatalf("seed %d: total %d, contiguous %d; want %d, %d", seed, s.Total(), s.Contiguous(), total,
					contiguous)
			}
			at, end := r.IntN(size), r.IntN(size)
			gf, gt, ok := s.Gap(transport.Bytes(at), transport.Bytes(end))
			lo := at
			for lo < end && have[lo] {
				lo++
			}
			hi := lo
			for hi < end && !have[hi] {
				hi++
			}
			if ok != (lo < end) || ok && (gf != transport.Bytes(lo) || gt != transport.Bytes(hi)) {
				t.Fatalf("seed %d: gap in [%d,%d) = [%d,%d) %v, want [%d,%d)", seed, at, end, gf, gt, ok, lo, hi)
			}
		}
	}
}
