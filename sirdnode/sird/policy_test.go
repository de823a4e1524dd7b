package sird_test

import (
	"math"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// shares runs until from, counts until the end, and makes counts shares.
func shares(sim *model.Sim, count map[topo.HostID]float64, from, until units.Time) {
	sim.Run(from)
	clear(count)
	sim.Run(until)
	total := 0.0
	for _, n := range count {
		total += n
	}
	for h := range count {
		count[h] /= total
	}
}

// Paper, section 4.4 (SRPT); README, Crediting: a 500 KB message
// overtakes 10 MB ones, all of them to one receiver.
func TestSRPTLetsAShortMessageOvertakeLongOnes(t *testing.T) {
	f := rack(t, 5)
	sends := []model.Send{
		{Src: 1, Size: 10_000_000}, {Src: 2, Size: 10_000_000}, {Src: 3, Size: 10_000_000},
		{At: 200_000, Src: 4, Size: 500_000},
	}
	unloaded := f.UnloadedExact(4, 0, 500_000, sird.Protocol.Framing(f.Spec.MTU)) + f.CreditLoop(4, 0)
	latency := map[string]units.Time{}
	for _, policy := range []string{"srpt", "round_robin"} {
		p := params(f, func(p *sird.Params) { p.ReceiverPolicy = policy })
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		for _, m := range sim.Messages() {
			if m.Src == 4 {
				latency[policy] = m.Latency()
			}
		}
	}
	// Under SRPT it can only be delayed by what is queued before it, B - BDP, and by
	// waiting for room in B: one BDP more is generous.
	if got := latency["srpt"]; got > unloaded+f.CreditLoop(4, 0) {
		t.Errorf("srpt: %v, alone it takes %v", got, unloaded)
	}
	if got := latency["round_robin"]; got < 3*unloaded || got > 5*unloaded {
		t.Errorf("round_robin: %v among four, alone it takes %v", got, unloaded)
	}
}

// Paper, section 6.1.1 (SRR): round robin gives senders equal shares, however
// many messages each has and however large they are.
func TestRoundRobinSharesEquallyBetweenSenders(t *testing.T) {
	f := rack(t, 5)
	sends := []model.Send{{Src: 1, Size: 30_000_000}, {Src: 2, Size: 5_000_000}, {Src: 2, Size: 20_000_000},
		{Src: 3, Size: 25_000_000}, {Src: 4, Size: 8_000_000}}
	for range 10 {
		sends = append(sends, model.Send{Src: 3, Size: 2_000_000})
	}
	count := map[topo.HostID]float64{}
	p := params(f, func(p *sird.Params) { p.ReceiverPolicy = "round_robin" })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, OnPacket: func(e model.PacketEvent) {
		if e.Kind == model.Arrived && e.Port == f.Downlink(0) {
			count[e.Src] += float64(e.Packet.PayloadLen)
		}
	}})
	shares(sim, count, 100*units.Microsecond, 600*units.Microsecond)
	if len(count) != 4 {
		t.Errorf("data from %d hosts", len(count))
	}
	for h, share := range count {
		if math.Abs(share-0.25) > 0.005 {
			t.Errorf("host %d has %.3f", h, share)
		}
	}
}

// Among messages with equally many bytes to come the lower host's goes first, and
// within a sender the older one: a message that has begun is finished first.
func TestSRPTTiesGoToTheLowerHostThenTheOlderMessage(t *testing.T) {
	f := rack(t, 4)
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{
		{Src: 3, Size: 1_000_000}, {Src: 1, Size: 1_000_000}, {Src: 1, Size: 1_000_000}, {Src: 2, Size: 1_000_000},
	}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	type key struct {
		src topo.HostID
		id  uint32
	}
	done := map[key]units.Time{}
	for _, m := range sim.Messages() {
		done[key{m.Src, m.ID}] = m.Delivered
	}
	// Requests arrive a few ns apart, so the first grants may go to another sender.
	order := []key{{1, 0}, {1, 1}, {2, 0}, {3, 0}}
	for i, k := range order {
		if want := units.Time(i+1) * 85_300; done[k] < want || done[k] > want+30_000 {
			t.Errorf("%+v delivered at %v, want about %v", k, done[k], want)
		}
	}
}

// Paper, section 4.4; README, Sender: half of the uplink is shared
// equally over receivers, half goes to the message with the fewest bytes left;
// sender_fair is that share.
func TestSenderSharesHalfFairlyAndHalfByShortestMessage(t *testing.T) {
	f := rack(t, 5)
	for _, c := range []struct {
		fair            float64
		shortest, other float64
	}{
		{0.5, 0.5 + 0.5/4, 0.5 / 4},
		{1, 0.25, 0.25},
		{0.2, 0.8 + 0.2/4, 0.2 / 4},
		{0, 1, 0},
	} {
		count := map[topo.HostID]float64{}
		// Without sender information credit is plentiful for all receivers.
		p := params(f, func(p *sird.Params) { p.SenderFair, p.SThr = c.fair, inf })
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{
			{Dst: 1, Size: 30_000_000}, {Dst: 2, Size: 30_000_000}, {Dst: 3, Size: 20_000_000},
			{Dst: 4, Size: 31_000_000},
		}, OnPacket: func(e model.PacketEvent) {
			if e.Kind == model.Transmitted && e.Port == f.Uplink(0) {
				count[e.Dst] += float64(e.Packet.PayloadLen)
			}
		}})
		shares(sim, count, 200*units.Microsecond, 700*units.Microsecond)
		for dst := topo.HostID(1); dst <= 4; dst++ {
			want := c.other
			if dst == 3 {
				want = c.shortest
			}
			if math.Abs(count[dst]-want) > 0.01 {
				t.Errorf("sender_fair %v: receiver %d has %.3f, want %.3f", c.fair, dst, count[dst], want)
			}
		}
	}
}

// README, Sender: between messages to one receiver a sender spends
// credit on the one with the fewest bytes left, whichever it was granted for.
func TestCreditBelongsToThePairOfHosts(t *testing.T) {
	f := rack(t, 3)
	var order []uint32
	p := params(f, func(p *sird.Params) { p.ReceiverPolicy = "round_robin" }) // grants to the oldest message
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Src: 1, Size: 2_000_000},
		{At: 20_000, Src: 1, Size: 300_000}}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	for _, m := range sim.Messages() {
		order = append(order, uint32(m.Delivered/1000))
	}
	if order[1] > 20+60 {
		t.Errorf("the short message is delivered at %d us, the long one at %d us", order[1], order[0])
	}
}

// Paper, section 4.4; README, Priorities: what travels in the upper of the
// two levels.
func TestPriorityLevels(t *testing.T) {
	f := rack(t, 6)
	for _, c := range []struct {
		priorities                      string
		control, unscheduled, scheduled uint8
		levels                          int
	}{
		{"data", 1, 1, 0, 2},
		{"control", 1, 0, 0, 2},
		{"none", 0, 0, 0, 1},
	} {
		p := params(f, func(p *sird.Params) { p.Priorities, p.LossTimeout = c.priorities, 100*units.Microsecond })
		if got := sird.Protocol.Network(f, p).Priorities; got != c.levels {
			t.Errorf("%s: %d levels", c.priorities, got)
		}
		seen := map[string]int{}
		sends := append(crossfire(3, 3, 4, 400_000), crossfire(3, 3, 4, 20_000)...)
		sim := newSim(t, model.Config{
			Fabric: f, Params: p, Sends: sends,
			Lose: func(e model.PacketEvent) bool { return e.Port == f.Downlink(e.Dst) && e.At%97 == 0 },
			OnPacket: func(e model.PacketEvent) {
				h, ok := leavesHost(f, e)
				if !ok {
					return
				}
				kind, want := h.Kind, c.control
				if kind == "BUSY" && !h.Request { // behind what it reports
					want = c.scheduled
				}
				if e.Packet.PayloadLen > 0 {
					kind, want = "unscheduled", c.unscheduled
					if h.Scheduled {
						kind, want = "scheduled", c.scheduled
					}
				}
				seen[kind]++
				if e.Packet.Priority != want || !e.Packet.ECT {
					t.Fatalf("%s: %s at level %d, ECT %v", c.priorities, kind, e.Packet.Priority, e.Packet.ECT)
				}
			},
		})
		modeltest.AllDone(t, f, sim, 50*units.Millisecond)
		if len(seen) < 6 {
			t.Errorf("%s: seen only %v", c.priorities, seen)
		}
	}
}
