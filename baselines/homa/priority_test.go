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

// README, Cutoffs: the priority of an unscheduled packet depends on the bytes
// that its message has left when it is sent, so it rises as the message is
// sent.
func TestUnscheduledPriorityIsByBytesLeft(t *testing.T) {
	f := rack(t, 2)
	h := newCore(t, f, 0, params(f, func(p *homa.Params) { p.Cutoffs = []units.Bytes{mss, 10 * mss} }))
	for id, c := range []struct {
		size units.Bytes
		want []uint8
	}{
		{1, []uint8{7}}, {mss, []uint8{7}},
		{mss + 1, []uint8{6, 7}},
		{10 * mss, slices.Concat(slices.Repeat([]uint8{6}, 9), []uint8{7})},
		{12*mss - 1, slices.Concat([]uint8{5, 5}, slices.Repeat([]uint8{6}, 9), []uint8{7})},
	} {
		h.Send(0, transport.Message{ID: transport.MessageID(id), Peer: 1, Size: c.size})
		var got []uint8
		for p, _, ok := h.next(0); ok; p, _, ok = h.next(0) {
			got = append(got, p.Priority)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d bytes: priorities %v, want %v", c.size, got, c.want)
		}
	}
}

// grantsToAll has n senders start a message each, the first host's the
// shortest, and returns the grants that follow at once.
func grantsToAll(h core, n int) (grants []homa.Header) {
	for i := range n {
		h.get(0, topo.HostID(i), homa.Header{Kind: "DATA", Length: uint32(1_000_000 + i*mss), Unscheduled: 69}, mss)
	}
	for p, hd, ok := h.next(0); ok; p, hd, ok = h.next(0) {
		if hd.Kind == "GRANT" && p.Priority == 7 {
			grants = append(grants, hd)
		}
	}
	return grants
}

// README, Priorities: min(7, rank + 8 - levels), counted from the highest, and
// the lowest levels if fewer senders are granted than there are levels.
func TestScheduledPriorityIsByRankLowestFirst(t *testing.T) {
	f := rack(t, 16)
	for _, c := range []struct {
		senders, unscheduled, k int
		want                    []uint8
	}{
		{1, 1, 7, []uint8{0}},
		{3, 1, 7, []uint8{2, 1, 0}},
		{7, 1, 7, []uint8{6, 5, 4, 3, 2, 1, 0}},
		{12, 1, 7, []uint8{6, 5, 4, 3, 2, 1, 0}},
		{12, 3, 5, []uint8{4, 3, 2, 1, 0}},
		{3, 3, 5, []uint8{2, 1, 0}},
		{12, 1, 2, []uint8{1, 0}},
		{12, 3, 8, []uint8{4, 3, 2, 1, 0, 0, 0, 0}},
	} {
		h := newCore(t, f, 15, params(f, func(p *homa.Params) {
			p.Workload, p.UnscheduledLevels, p.Overcommitment = "wka", c.unscheduled, c.k
		}))
		var got []uint8
		for _, g := range grantsToAll(h, c.senders) {
			got = append(got, g.Priority)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d senders, %d unscheduled levels, k %d: %v, want %v", c.senders, c.unscheduled, c.k, got, c.want)
		}
	}
}

// The sender sends scheduled data at the priority that the grant names.
func TestScheduledDataHasThePriorityOfItsGrant(t *testing.T) {
	f := rack(t, 2)
	h := newCore(t, f, 0, params(f, nil))
	h.Send(0, transport.Message{Peer: 1, Size: 1_000_000})
	for _, hd, ok := h.next(0); ok; _, hd, ok = h.next(0) {
		if hd.Offset >= window {
			t.Fatalf("sent without a grant: %+v", hd)
		}
	}
	for i, priority := range []uint8{0, 3, 6, 1} {
		h.get(0, 1, homa.Header{Kind: "GRANT", Offset: uint32(window + (i+1)*mss), Priority: priority}, 0)
		p, hd, ok := h.next(0)
		if !ok || p.Priority != priority || hd.Offset != uint32(window+i*mss) || p.PayloadLen != mss {
			t.Errorf("granted at %d: %+v at %d", priority, hd, p.Priority)
		}
	}
}

// boostTailBytesPrio (README, Parameters): the last scheduled bytes of a
// message travel at the priorities of unscheduled ones.
func TestBoostedTailHasUnscheduledPriorities(t *testing.T) {
	f := rack(t, 2)
	for _, boost := range []units.Bytes{0, 4 * frame} {
		want := max(0, int(boost/frame)-1) // packets with less than that to be granted
		grants, behind := 0, 0
		sim := newSim(t, model.Config{Fabric: f, Params: params(f, func(p *homa.Params) { p.BoostTail = boost }),
			Sends: []model.Send{{Dst: 1, Size: 100 * mss}}, OnPacket: func(e model.PacketEvent) {
				hd, ok := leavesHost(f, e)
				if ok && hd.Kind == "GRANT" && hd.Priority == 7 {
					grants++
				}
				if ok && hd.Kind == "DATA" && int(hd.Offset) >= (100-want)*mss && e.Packet.Priority != 7 {
					behind++
				}
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		if grants != want || behind != 0 {
			t.Errorf("boost of %v: %d grants at priority 7, want %d; %d of the tail's packets below", boost, grants,
				want, behind)
		}
	}
}

// Homa paper, section 5.1 and figure 8: short messages do not wait for long
// ones. Six senders keep a downlink full while a seventh sends 8 bytes now and
// then: each passes the queue and waits at most for the packets in transmission
// at its own NIC and at the downlink, and for a grant ahead of it.
func TestShortMessagesPassTheQueue(t *testing.T) {
	f := rack(t, 9)
	var sends []model.Send
	for src := range topo.HostID(6) {
		sends = append(sends, model.Send{Src: src, Dst: 8, Size: 10_000_000})
	}
	for i := range units.Time(200) {
		sends = append(sends, model.Send{At: 300_000 + 7001*i, Src: 6, Dst: 8, Size: 8})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends})
	sim.Run(300_000)
	sim.ResetQueues()
	modeltest.AllDone(t, f, sim, 20*units.Millisecond)
	queue := sim.Queue(f.Downlink(8).ID)
	if queue.Max < 400_000 {
		t.Errorf("the downlink's queue was only %v", queue.Max)
	}
	unloaded := f.UnloadedExact(6, 8, 8, homa.Protocol.Framing(1500))
	limit := unloaded + f.Downlink(8).Rate.TimeFor(frame+2*84)
	var worst units.Time
	for _, m := range sim.Messages() {
		if m.Size == 8 {
			worst = max(worst, m.Latency())
		}
	}
	t.Logf("8 B: unloaded %v, at most %v beside a queue of %v", unloaded, worst, queue.Max)
	if worst > limit {
		t.Errorf("8 B took %v, want at most %v", worst, limit)
	}
}
