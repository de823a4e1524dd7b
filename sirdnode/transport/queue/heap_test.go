package queue

import (
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/transport"
)

// Heap against sorting, over random sets, moves and removals.
func TestHeapOrdersByKeyThenArrival(t *testing.T) {
	type element struct {
		slot Slot
		key  transport.Bytes
		born int
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		h := NewHeap(func(e *element) *Slot { return &e.slot })
		live := map[*element]bool{}
		for i := range 60 {
			switch e := pick(r, live); {
			case e == nil || r.IntN(3) == 0:
				e = &element{key: transport.Bytes(r.IntN(8)), born: i}
				live[e] = true
				h.Set(e, e.key)
			case r.IntN(2) == 0:
				e.key = transport.Bytes(r.IntN(8))
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
