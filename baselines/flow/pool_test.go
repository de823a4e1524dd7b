package flow_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
)

type line struct{ n int }

// README, Connections: if all connections are busy, messages wait, first come,
// first served.
func TestPoolGivesOutConnectionsThenQueuesInOrder(t *testing.T) {
	p := flow.NewPool(3, func(n int) *line { return &line{n} })
	var busy []*line
	for id := range transport.MessageID(8) {
		c := p.Add(transport.Message{ID: id})
		if (c != nil) != (id < 3) {
			t.Fatalf("message %d: connection %v", id, c)
		}
		if c != nil {
			busy = append(busy, c)
		}
	}
	if p.Busy() != 3 || p.Waiting() != 5 {
		t.Fatalf("%d busy, %d waiting", p.Busy(), p.Waiting())
	}
	for want := transport.MessageID(3); want < 8; want++ {
		if m, ok := p.Release(busy[want%3]); !ok || m.ID != want {
			t.Errorf("released: got message %d, %v, want %d", m.ID, ok, want)
		}
	}
	// The connection released last is used next.
	for _, n := range []int{2, 0, 1} {
		if _, ok := p.Release(busy[n]); ok {
			t.Error("a message out of nowhere")
		}
	}
	for i, want := range []int{1, 0, 2} {
		if c := p.Add(transport.Message{ID: transport.MessageID(8 + i)}); c == nil || c.n != want {
			t.Errorf("connection %v, want %d", c, want)
		}
	}
}

// README, Connections: no more connections are ever used than have been busy at
// once, so that those that are stay warm.
func TestPoolUsesAsFewConnectionsAsItCan(t *testing.T) {
	dialed := 0
	p := flow.NewPool(40, func(n int) *line { dialed++; return &line{n} })
	id := transport.MessageID(0)
	for _, together := range []int{1, 3, 2, 3, 1} {
		for range 50 {
			var busy []*line
			for range together {
				busy = append(busy, p.Add(transport.Message{ID: id}))
				id++
			}
			for _, c := range busy {
				p.Release(c)
			}
		}
	}
	if dialed != 3 {
		t.Errorf("%d connections made for 3 messages at once", dialed)
	}
}

// AboveFloor returns the distance to the lowest unsettled message, in whatever
// order messages are settled.
func TestPoolKnowsWhatIsSettled(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := flow.NewPool(1, func(n int) *line { return &line{n} })
		first := transport.MessageID(r.Uint32())
		next := first
		open := map[transport.MessageID]bool{}
		for range 300 {
			switch r.IntN(5) {
			case 0, 1:
				p.Add(transport.Message{ID: next})
				open[next] = true
				next++
			case 2:
				p.Skip(next)
				next++
			default:
				if next != first {
					id := first + transport.MessageID(r.IntN(int(next-first)))
					p.Settle(id)
					delete(open, id)
				}
			}
			lowest := first
			for lowest != next && !open[lowest] {
				lowest++
			}
			if len(open) > 0 {
				id := lowest + transport.MessageID(r.IntN(int(next-lowest)))
				if got := p.AboveFloor(id); got != uint16(id-lowest) {
					t.Fatalf("seed %d: %d is %d above the floor, want %d", seed, id, got, id-lowest)
				}
			} else if p.Open() != 0 {
				t.Fatalf("seed %d: %d open, want none", seed, p.Open())
			}
		}
	}
	p := flow.NewPool(1, func(n int) *line { return &line{n} })
	p.Add(transport.Message{ID: 5})
	p.Add(transport.Message{ID: 5 + 70_000})
	if p.AboveFloor(5+65_534) != 65_534 || p.AboveFloor(5+65_535) != account.FloorUnknown ||
		p.AboveFloor(5+70_000) != account.FloorUnknown {
		t.Error("far distances")
	}
}
