package transport

import (
	"math/rand/v2"
	"testing"

	"sirdbed/topo/units"
)

// Spans against a plain bitmap, over random ranges.
func TestSpansMatchBitmap(t *testing.T) {
	const size = 64
	for seed := uint64(0); seed < 2000; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Spans
		var have [size]bool
		for range 20 {
			from := r.IntN(size)
			to := from + r.IntN(size-from+1)
			var want Bytes
			for i := from; i < to; i++ {
				if !have[i] {
					want++
				}
				have[i] = true
			}
			if got := s.Add(Bytes(from), Bytes(to)); got != want {
				t.Fatalf("seed %d: [%d,%d) added %d, want %d", seed, from, to, got, want)
			}
			total, contiguous := Bytes(0), Bytes(0)
			for i := range have {
				if have[i] {
					total++
				}
			}
			for contiguous < size && have[contiguous] {
				contiguous++
			}
			if s.Total() != total || s.Contiguous() != contiguous {
				t.Fatalf("seed %d: total %d, contiguous %d; want %d, %d", seed, s.Total(), s.Contiguous(), total, contiguous)
			}
			at, end := r.IntN(size), r.IntN(size)
			gf, gt, ok := s.Gap(Bytes(at), Bytes(end))
			lo := at
			for lo < end && have[lo] {
				lo++
			}
			hi := lo
			for hi < end && !have[hi] {
				hi++
			}
			if ok != (lo < end) || ok && (gf != Bytes(lo) || gt != Bytes(hi)) {
				t.Fatalf("seed %d: gap in [%d,%d) = [%d,%d) %v, want [%d,%d)", seed, at, end, gf, gt, ok, lo, hi)
			}
		}
	}
}

func TestPacerKeepsItsRateToThePicosecond(t *testing.T) {
	p := Pacer{Rate: 100 * units.Gbps}
	for i := range 1000 {
		if want := Time((int64(i)*123040 + 999) / 1000); p.At() != want {
			t.Fatalf("packet %d at %v, want %v", i, p.At(), want)
		}
		p.Sent(p.At(), 1538, Time(1))
	}
}

func TestPacerCatchesUpWithinItsSlack(t *testing.T) {
	p := Pacer{Rate: 8 * units.Gbps} // 1 ns a byte
	p.Sent(0, 100, 0)
	p.Sent(1000, 100, 300) // 900 late, 300 forgiven: through at 800
	if p.At() != 800 {
		t.Errorf("next at %v", p.At())
	}
}

// Heap against sorting, over random sets, moves and removals.
func TestHeapOrdersByKeyThenArrival(t *testing.T) {
	type element struct {
		slot Slot
		key  Bytes
		born int
	}
	for seed := uint64(0); seed < 300; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		h := NewHeap(func(e *element) *Slot { return &e.slot })
		live := map[*element]bool{}
		for i := range 60 {
			switch e := pick(r, live); {
			case e == nil || r.IntN(3) == 0:
				e = &element{key: Bytes(r.IntN(8)), born: i}
				live[e] = true
				h.Set(e, e.key)
			case r.IntN(2) == 0:
				e.key = Bytes(r.IntN(8))
				h.Set(e, e.key)
			default:
				h.Remove(e)
				delete(live, e)
			}
			var want *element
			for e := range live {
				if want == nil || e.key < want.key || e.key == want.key && e.born < want.born {
					want = e
				}
			}
			if h.Top() != want || h.Len() != len(live) {
				t.Fatalf("seed %d step %d: top %v of %d, want %v of %d", seed, i, h.Top(), h.Len(), want, len(live))
			}
		}
	}
}

func pick[T any](r *rand.Rand, set map[*T]bool) *T {
	for e := range set {
		if r.IntN(len(set)) == 0 {
			return e
		}
	}
	return nil
}
