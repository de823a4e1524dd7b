package homa_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Homa paper, section 3.2; README, Sender: the message with the fewest bytes
// remaining is sent first, whoever its receiver; it may be one that came later.
func TestSenderSendsFewestBytesRemainingFirst(t *testing.T) {
	f := rack(t, 4)
	h := newCore(t, f, 0, params(f, nil))
	h.Send(0, transport.Message{ID: 0, Peer: 1, Size: 20 * mss})
	h.Send(0, transport.Message{ID: 1, Peer: 1, Size: 5 * mss})
	h.Send(0, transport.Message{ID: 0, Peer: 2, Size: 12 * mss})
	type part struct {
		peer topo.HostID
		id   transport.MessageID
	}
	var got []part
	for n := 0; ; n++ {
		if n == 10 { // the second of the three now has 7 packets left
			h.Send(0, transport.Message{ID: 0, Peer: 3, Size: 7*mss - 1})
			h.Send(0, transport.Message{ID: 1, Peer: 3, Size: 7*mss + 1})
		}
		p, hd, ok := h.next(0)
		if !ok {
			break
		}
		got = append(got, part{p.Peer, hd.ID})
	}
	want := slices.Concat(slices.Repeat([]part{{1, 1}}, 5), slices.Repeat([]part{{2, 0}}, 5),
		slices.Repeat([]part{{3, 0}}, 7),
		slices.Repeat([]part{{2, 0}}, 7), slices.Repeat([]part{{3, 1}}, 8), slices.Repeat([]part{{1, 0}}, 20))
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// A long message that was granted waits for a shorter one that needs no grant.
func TestGrantedMessageWaitsForShorterOne(t *testing.T) {
	f := rack(t, 3)
	h := newCore(t, f, 0, params(f, nil))
	h.Send(0, transport.Message{Peer: 1, Size: 1_000_000})
	for range 69 {
		h.next(0)
	}
	h.get(0, 1, homa.Header{Kind: "GRANT", Offset: 80 * mss}, 0)
	h.Send(0, transport.Message{Peer: 2, Size: 5000})
	for n, want := range []topo.HostID{2, 2, 2, 2, 1, 1} {
		if p, _, _ := h.next(0); p.Peer != want {
			t.Errorf("packet %d is for %d, want %d", n, p.Peer, want)
		}
	}
}

// README, Sender: grants go ahead of data.
func TestGrantsGoAheadOfData(t *testing.T) {
	f := rack(t, 3)
	h := newCore(t, f, 0, params(f, nil))
	h.Send(0, transport.Message{Peer: 1, Size: 8})
	h.get(0, 2, homa.Header{Kind: "DATA", Length: 1_000_000, Unscheduled: 69}, mss)
	h.get(0, 1, homa.Header{Kind: "DATA", Length: 8, Unscheduled: 1}, 8)
	for _, want := range []string{"ACK", "GRANT", "DATA"} {
		if p, hd, _ := h.next(0); hd.Kind != want || p.Priority != 7 {
			t.Errorf("%+v at %d, want %s at 7", hd, p.Priority, want)
		}
	}
}

// Homa paper, section 3.4: the receiver grants the messages with the fewest
// bytes to come. With k = 1 two long messages finish one after the other, and a
// third that is shorter than what is left of the first overtakes it.
func TestReceiverGrantsShortestFirst(t *testing.T) {
	f := rack(t, 4)
	sim := newSim(t, model.Config{Fabric: f, Params: params(f, func(p *homa.Params) { p.Overcommitment = 1 }),
		Sends: []model.Send{
			{Src: 0, Dst: 3, Size: 2_000_000}, {Src: 1, Dst: 3, Size: 3_000_000}, {At: 50_000, Src: 2, Dst: 3,
				Size: 500_000},
		}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	var times []units.Time
	for _, src := range []topo.HostID{2, 0, 1} {
		for _, m := range sim.Messages() {
			if m.Src == src {
				times = append(times, m.Delivered)
			}
		}
	}
	line := f.Downlink(3).Rate
	alone := line.TimeFor(500_000 * frame / mss)
	if !slices.IsSorted(times) || times[0] > 50_000+alone+30_000 {
		t.Errorf("500 KB, 2 MB, 3 MB delivered at %v; the first takes %v", times, alone)
	}
	if all := line.TimeFor(5_500_000 * frame / mss); times[2] > all+15_000 {
		t.Errorf("all are there at %v, the link needs %v", times[2], all)
	}
}
