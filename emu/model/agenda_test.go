package model

import (
	"math/rand/v2"
	"testing"
)

// The agenda against a plain list: earliest first, ties in the order of entry,
// whatever is moved or taken out in between.
func TestAgendaMatchesList(t *testing.T) {
	const entities = 200
	r := rand.New(rand.NewPCG(1, 2))
	a := newAgenda(entities)
	type plain struct {
		ps, seq int64
		in      bool
	}
	var list [entities]plain
	seq := int64(0)
	for range 200000 {
		id := r.IntN(entities)
		switch r.IntN(4) {
		case 0:
			a.clear(id)
			list[id].in = false
		default:
			ps := int64(r.IntN(50))
			seq++
			a.set(id, ps)
			list[id] = plain{ps, seq, true}
		}
		first, n := -1, 0
		for i, p := range list {
			if p.in {
				n++
				if first < 0 || p.ps < list[first].ps || p.ps == list[first].ps && p.seq < list[first].seq {
					first = i
				}
			}
		}
		if n != len(a.heap) {
			t.Fatalf("%d entries, want %d", len(a.heap), n)
		}
		if n > 0 && (a.heap[0].id() != first || a.heap[0].ps != list[first].ps) {
			t.Fatalf("first is %d, want %d", a.heap[0].id(), first)
		}
	}
}
