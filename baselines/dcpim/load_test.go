package dcpim_test

import (
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// allToAll has every host send a long message to every other.
func allToAll(f *topo.Fabric, size units.Bytes) (sends []model.Send) {
	for _, a := range f.Hosts {
		for _, b := range f.Hosts {
			if a != b {
				sends = append(sends, model.Send{Src: a, Dst: b, Size: size})
			}
		}
	}
	return sends
}

// If every pair of hosts has a message without end, r = 4 rounds match all
// channels, and data uses all of the links but what tokens take: 84 bytes per
// 1538, 5.2 % of the uplink. One round matches about 82 % of the channels: in
// it many hosts choose the same shortest message, and conflicts are not
// resolved (README, Matching: a sustained load of 54 to 56 % for r = 1, and 82
// % for r = 4).
func TestFourRoundsMatchAllChannels(t *testing.T) {
	f := rack(t, 16)
	for _, c := range []struct {
		rounds, channels int
		low, high        float64 // wire rate of data, of the link rate
	}{
		{4, 4, 0.92, 0.95}, {2, 4, 0.9, 0.95}, {1, 4, 0.6, 0.85}, {1, 1, 0.5, 0.85}, {4, 1, 0.9, 0.95},
	} {
		from, to := 300*units.Microsecond, 900*units.Microsecond
		sim := newSim(t, model.Config{
			Fabric: f, Sends: allToAll(f, 20_000_000), From: from, To: to,
			Params: params(f, func(p *dcpim.Params) { p.Rounds, p.Channels = c.rounds, c.channels }),
		})
		sim.Run(to)
		goodput := float64(sim.Totals().WindowPayload) * 8 / (to - from).Seconds() / 16 / 100e9
		if data := goodput * frame / mss; data < c.low || data > c.high {
			t.Errorf("r %d, k %d: data takes %.3f of the links, want %.2f to %.2f", c.rounds, c.channels, data, c.low,
				c.high)
		} else {
			t.Logf("r %d, k %d: goodput %.1f Gbps, data on the wire %.1f", c.rounds, c.channels, goodput*100, data*100)
		}
	}
}

// The simulator's README, figure 6a: with r = 4 and k = 4 a load of 82 % is
// sustained, with r = 1 no more than 56 %. The simulator's load counts 1500
// bytes for 1460 of payload: it is the share of the links that data takes. Here
// it is measured under overload: 86 Gbps of long messages of 3 MB, all to all,
// while about eight of them wait at each host. It is 79 %, and 6 points either
// way are allowed: the demand of 16 hosts is more uneven than that of 144, the
// last of a message's 38 channels are partly empty (as in the simulator,
// packets in flight count as missing when channels are requested), and the more
// messages wait, the more is matched, up to 94 %
// (TestFourRoundsMatchAllChannels). One round carries at least 5 points less.
func TestSustainsTheReleasedLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 24 ms of 16 hosts")
	}
	f := rack(t, 16)
	carried := map[int]float64{}
	for _, rounds := range []int{4, 1} {
		from, to := 6*units.Millisecond, 12*units.Millisecond
		sim := newSim(t, model.Config{
			Fabric: f, Seed: 1, From: from, To: to, Params: params(f, func(p *dcpim.Params) { p.Rounds = rounds }),
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Size: 3_000_000, Load: 0.86}},
		})
		sim.Run(to)
		total := sim.Totals()
		carried[rounds] = float64(total.WindowPayload) * 8 / (to - from).Seconds() / 16 / 100e9 * frame / mss
		t.Logf("r %d: data takes %.3f of the links, %d messages wait", rounds, carried[rounds],
			total.Offered-total.Delivered)
	}
	if carried[4] < 0.76 || carried[4] > 0.88 || carried[1] > carried[4]-0.05 {
		t.Errorf("four rounds carry %.3f, one %.3f: want 0.82 +- 0.06, and less", carried[4], carried[1])
	}
}

// A realistic load on two racks: everything arrives once, no packet is lost and
// little is sent twice; and every host is idle afterwards.
func TestWebSearchAllToAllDelivers(t *testing.T) {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 6, Spines: 2, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
	for _, sizes := range []string{"wka", "wkc"} {
		sim := newSim(t, model.Config{
			Fabric: f, Seed: 3, To: 3 * units.Millisecond,
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: sizes, Load: 0.5}},
		})
		modeltest.AllDone(t, f, sim, 50*units.Millisecond)
		c := sim.Totals().Counts
		packets := int64(0)
		for _, m := range sim.Messages() {
			packets += int64((m.Size + mss - 1) / mss)
		}
		if again := modeltest.Counted(f, sim, "retransmissions"); c.Delivered != c.Offered || again*100 > packets {
			t.Errorf("%s: %+v, %d of %d packets sent again", sizes, c, again, packets)
		}
	}
}

// The gauges report channels and tokens of both halves.
func TestGaugesFollowTheMatching(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	sim := newSim(t, model.Config{Fabric: f, Sends: allToAll(f, 5_000_000), GaugeEvery: 10 * units.Microsecond})
	sim.Run(400 * units.Microsecond)
	for name, most := range map[string]float64{"receiver_channels": 4, "sender_channels": 4, "tokens_outstanding": 300,
		"tokens_held": 100} {
		high := 0.0
		for _, h := range f.Hosts {
			samples := sim.Gauges(h)[name]
			if len(samples) < 30 || samples[0].Value != 0 {
				t.Errorf("%s: %d samples", name, len(samples))
			}
			for _, s := range samples {
				high = max(high, s.Value)
			}
		}
		if high < 1 || high > most {
			t.Errorf("%s: up to %v, want up to %v", name, high, most)
		}
	}
}

// No packet allocates anything once queues and pools have grown.
func TestNoAllocationPerPacket(t *testing.T) { modeltest.NoAllocationPerPacket(t, subject) }
