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
	seq, now := int64(0), int64(0)
	for range 200000 {
		id := r.IntN(entities)
		switch r.IntN(4) {
		case 0:
			a.clear(id)
			list[id].in = false
		default:
			ps := now + int64(r.IntN(1<<r.IntN(24))) // within a slot, within the wheel, and beyond
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
		e, ok := a.first()
		if ok != (n > 0) || ok && (e.id() != first || e.ps != list[first].ps) {
			t.Fatalf("first is %d (%v), want %d of %d", e.id(), ok, first, n)
		}
		if ok && r.IntN(8) == 0 { // it happens
			now = e.ps
			a.reach(now)
			a.clear(e.id())
			list[e.id()].in = false
		}
	}
}
