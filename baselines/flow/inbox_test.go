package flow_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
)

// README, Receiver: after delivery a receiver remembers the id until the
// sender's lowest unsettled id has passed it, so that nothing is delivered
// twice.
func TestInboxDeliversOnceInAnyOrder(t *testing.T) {
	f := rack(t, 2)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		env, k := modeltest.Env(f, 0)
		x := flow.NewInbox(env)
		const messages = 30
		settled := 0 // all below
		want := int64(0)
		sizes := make([]flow.Bytes, messages)
		for i := range sizes {
			sizes[i] = flow.Bytes(1 + r.IntN(8000))
			want += int64(sizes[i])
		}
		for len(k.Times) < messages || r.IntN(100) > 0 {
			i := min(settled+r.IntN(6), messages-1)
			if r.IntN(8) == 0 {
				i = r.IntN(i + 1) // a late duplicate
			}
			offset := mss * flow.Bytes(r.IntN(int(sizes[i]+mss-1)/int(mss)))
			p := transport.Packet{Peer: 1, PayloadLen: int(min(mss, sizes[i]-offset))}
			aboveFloor := uint16(account.FloorUnknown)
			if i >= settled && r.IntN(4) > 0 {
				aboveFloor = uint16(i - settled)
			}
			before := k.Times[transport.MessageID(i)]
			m, verdict := x.Take(0, flow.Segment{ID: transport.MessageID(i), Length: sizes[i], Offset: offset,
				AboveFloor: aboveFloor}, &p)
			switch verdict {
			case flow.Completed:
				if before != 0 || m.Missing() != 0 || m.Received() != sizes[i] {
					t.Fatalf("seed %d: message %d completed, %d missing", seed, i, m.Missing())
				}
			case flow.Settled:
				if before == 0 || m != nil {
					t.Fatalf("seed %d: message %d settled, delivered %d times", seed, i, before)
				}
			case flow.Fresh, flow.Duplicate:
				if m == nil || m.Missing() == 0 || before != 0 {
					t.Fatalf("seed %d: message %d: %v", seed, i, verdict)
				}
			default:
				t.Fatalf("seed %d: message %d: verdict %d", seed, i, verdict)
			}
			for settled < messages-1 && k.Times[transport.MessageID(settled)] > 0 && r.IntN(3) > 0 {
				settled++
			}
		}
		for id, n := range k.Times {
			if n != 1 {
				t.Fatalf("seed %d: message %d delivered %d times", seed, id, n)
			}
		}
		if k.Bytes != want || x.Open() != 0 {
			t.Fatalf("seed %d: %d bytes of %d, %d messages open", seed, k.Bytes, want, x.Open())
		}
	}
}

// What the sender has given up is forgotten, and does not come back.
func TestInboxForgetsWhatIsSettled(t *testing.T) {
	for _, jump := range []transport.MessageID{1, 50, 1000, 1 << 30} {
		env, _ := modeltest.Env(rack(t, 2), 0)
		x := flow.NewInbox(env)
		take := func(id transport.MessageID, aboveFloor uint16) flow.Verdict {
			_, v := x.Take(0, flow.Segment{ID: id, Length: 2000, AboveFloor: aboveFloor},
				&transport.Packet{Peer: 1, PayloadLen: 1000})
			return v
		}
		if take(0, 0) != flow.Fresh || x.Find(1, 0) == nil {
			t.Fatal("message 0 not taken")
		}
		if take(jump, 0) != flow.Fresh || x.Open() != 1 || x.Find(1, 0) != nil {
			t.Errorf("jump by %d: %d open", jump, x.Open())
		}
		if take(0, account.FloorUnknown) != flow.Settled || take(jump-1, 0) != flow.Settled || x.Open() != 1 {
			t.Errorf("jump by %d: a settled message came back", jump)
		}
	}
}

func TestInboxRefusesNonsense(t *testing.T) {
	env, _ := modeltest.Env(rack(t, 2), 0)
	x := flow.NewInbox(env)
	for _, c := range []struct {
		s flow.Segment
		n int
	}{
		{flow.Segment{Length: 10}, 0}, {flow.Segment{Length: 10}, 11}, {flow.Segment{Length: 10, Offset: 5}, 6},
		{flow.Segment{}, 0},
	} {
		if _, v := x.Take(0, c.s, &transport.Packet{Peer: 1, PayloadLen: c.n}); v != flow.Malformed {
			t.Errorf("%+v with %d bytes: verdict %d", c.s, c.n, v)
		}
	}
	x.Take(0, flow.Segment{Length: 10}, &transport.Packet{Peer: 1, PayloadLen: 5})
	if _, v := x.Take(0, flow.Segment{Length: 11, Offset: 5},
		&transport.Packet{Peer: 1, PayloadLen: 5}); v != flow.Malformed {
		t.Errorf("another length: verdict %d", v)
	}
}
