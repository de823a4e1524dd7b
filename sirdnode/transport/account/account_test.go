package account

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/sirdnode/transport"
)

// Outgoing against a plain map, with ids that are left out and that wrap around.
func TestOutgoingMatchesAMap(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var o Outgoing[int]
		open := map[transport.MessageID]int{}
		first := transport.MessageID(-uint32(r.IntN(40)))
		next := first
		for step := range 200 {
			if r.IntN(2) == 0 {
				next += transport.MessageID(r.IntN(3) / 2) // now and then one is left out
				o.Add(next, step+1)
				open[next] = step + 1
				next++
			} else {
				id := first + transport.MessageID(r.IntN(int(next-first)+1))
				o.Settle(id)
				delete(open, id)
			}
			floor := next
			for id := range open {
				if int32(id-floor) < 0 {
					floor = id
				}
			}
			if o.Len() != len(open) || o.Next() != next && step > 0 && len(open) > 0 || len(open) > 0 &&
				o.Floor() != floor {
				t.Fatalf("seed %d, step %d: %d open from %d to %d, want %d from %d to %d", seed, step, o.Len(),
					o.Floor(), o.Next(), len(open), floor, next)
			}
			for id := first - 2; id != next+2; id++ {
				if o.Find(id) != open[id] {
					t.Fatalf("seed %d, step %d: message %d is %d, want %d", seed, step, id, o.Find(id), open[id])
				}
			}
			var all []int
			for state := range o.All() {
				all = append(all, state)
			}
			if !slices.IsSorted(all) || len(all) != len(open) {
				t.Fatalf("seed %d, step %d: all are %v of %v", seed, step, all, open)
			}
			if len(open) > 0 && o.AboveFloor(next-1) != uint16(next-1-floor) {
				t.Fatalf("seed %d: %d is %d above %d", seed, next-1, o.AboveFloor(next-1), floor)
			}
		}
	}
}

// All goes on when messages are settled meanwhile.
func TestOutgoingMayBeSettledWhileVisited(t *testing.T) {
	var o Outgoing[transport.MessageID]
	for id := range transport.MessageID(10) {
		o.Add(id, id)
	}
	seen := 0
	for id := range o.All() {
		o.Settle(id)
		o.Settle(8)
		seen++
	}
	if seen != 9 || o.Len() != 0 || o.Floor() != 10 {
		t.Errorf("%d visited, %d left from %d on", seen, o.Len(), o.Floor())
	}
}

func TestDistanceThatDoesNotFitIsUnknown(t *testing.T) {
	var o Outgoing[bool]
	o.Add(5, true)
	for id, want := range map[transport.MessageID]uint16{5: 0, 6: 1, 5 + 65534: 65534, 5 + 65535: FloorUnknown,
		5 + 65536: FloorUnknown, 1 << 31: FloorUnknown} {
		if got := o.AboveFloor(id); got != want {
			t.Errorf("%d is %d above the floor, want %d", id, got, want)
		}
	}
}

// Incoming against plain maps that remember all.
func TestIncomingMatchesMaps(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		in := NewIncoming[transport.MessageID]()
		open, done := map[transport.MessageID]bool{}, map[transport.MessageID]bool{}
		floor := transport.MessageID(0)
		forgets := seed%2 == 0
		spread := []int{30, 3 * fewOpen, 2 * nearIDs}[seed%3] // of ids
		for range 200 {
			id := floor + transport.MessageID(r.IntN(spread))
			switch r.IntN(4) {
			case 0:
				for range 1 + r.IntN(spread)/10 {
					m := id
					in.Add(id, &m)
					open[id] = true
					id++
				}
			case 1:
				in.Done(id)
				in.Forget(id)
				done[id] = true
				delete(open, id)
			case 2:
				in.Forget(id)
				delete(open, id)
			case 3:
				aboveFloor := uint16(r.IntN(40))
				if r.IntN(20) == 0 { // further than is known of
					id += 10_000
				}
				var forget func(*transport.MessageID)
				if forgets {
					forget = func(m *transport.MessageID) { in.Forget(*m) }
				}
				in.RaiseFloor(id, aboveFloor, forget)
				if to := id - transport.MessageID(aboveFloor); int32(to-floor) > 0 {
					floor = to
				}
				for id := range open {
					if forgets && id < floor && int32(id-floor) < 0 {
						delete(open, id)
					}
				}
			}
			for range 100 {
				probe := floor - 45 + transport.MessageID(r.IntN(100+spread))
				if got, want := in.IsDone(probe), done[probe] || int32(probe-floor) < 0; got != want {
					t.Fatalf("seed %d: %d done: %v, want %v (floor %d)", seed, probe, got, want, floor)
				}
				if got := in.Find(probe); (got != nil) != open[probe] || got != nil && *got != probe {
					t.Fatalf("seed %d: %d open: %v, want %v (floor %d)", seed, probe, got != nil, open[probe], floor)
				}
			}
			even := in.Select(func(m *transport.MessageID) bool { return *m%2 == 0 })
			if in.Len() != len(open) || !slices.IsSortedFunc(even,
				func(a, b *transport.MessageID) int { return int(int32(*a - *b)) }) {
				t.Fatalf("seed %d: %d open, want %d", seed, in.Len(), len(open))
			}
			want := 0
			for id := range open {
				if id%2 == 0 {
					want++
				}
			}
			seen := map[transport.MessageID]bool{}
			for m := range in.All() {
				seen[*m] = true
			}
			if !maps.Equal(seen, open) {
				t.Fatalf("seed %d: all are %v, want %v", seed, seen, open)
			}
			if len(even) != want || in.Remembered() > 45+spread {
				t.Fatalf("seed %d: %d selected, want %d; %d remembered", seed, len(even), want, in.Remembered())
			}
		}
	}
}

// A floor never falls, and FloorUnknown leaves it as it is: what was delivered once
// stays so.
func TestFloorNeverFalls(t *testing.T) {
	in := NewIncoming[int]()
	in.RaiseFloor(100, 10, nil)
	in.RaiseFloor(80, 0, nil)
	in.RaiseFloor(70_000, FloorUnknown, nil)
	if !in.IsDone(89) || in.IsDone(90) {
		t.Errorf("89 done: %v, 90 done: %v", in.IsDone(89), in.IsDone(90))
	}
	in.Done(95)
	in.RaiseFloor(94, 0, nil)
	if in.Remembered() != 1 || !in.IsDone(95) {
		t.Error("what is above the floor is forgotten")
	}
	in.RaiseFloor(96, 0, nil)
	if in.Remembered() != 0 || !in.IsDone(95) {
		t.Error("what is below the floor is remembered")
	}
}
