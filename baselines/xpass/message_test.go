package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A message costs a round trip before its first byte leaves: 8 bytes take a
// request, a credit and a data packet (ExpressPass paper, section 3; README,
// Credits), 10.55 us where SIRD's paper has 7.5 us for a round trip.
func TestUnloadedLatencyIsRequestCreditData(t *testing.T) {
	s := modeltest.Small
	s.CoreRate = 400 * units.Gbps
	f := modeltest.Fabric(t, s)
	p := params(f, func(p *xpass.Params) { p.CreditMin, p.CreditMax = 84, 84 })
	for _, dst := range []topo.HostID{1, 3} {
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: dst, Size: 8}}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		there, back := f.Path(0, dst, 1), f.Path(dst, 0, 1)
		fr := xpass.Protocol.Framing(1500)
		want := f.Transit(there, 84) + f.Transit(back, 84) + f.Transit(there, fr.Wire(8))
		if got := sim.Messages()[0].Latency(); got < want-2 || got > want+2 {
			t.Errorf("to %d: %v, want %v", dst, got, want)
		}
	}
}

// credits returns when credits leave host 1 for a message of n packets.
func credits(t *testing.T, n units.Bytes, change func(*xpass.Params)) (sent []units.Time, sim *model.Sim) {
	t.Helper()
	f := rack(t, 2)
	sim = newSim(t, model.Config{Fabric: f, Params: params(f, change), Sends: []model.Send{{Dst: 1, Size: n * mss}},
		OnPacket: func(e model.PacketEvent) {
			if e.Kind == model.Transmitted && e.Packet.Credit && e.Port == f.Uplink(1) {
				sent = append(sent, e.At)
			}
		}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	return sent, sim
}

// The gap between the first two credits of a message of n packets follows from
// a rate of alpha * min(1, n/40) of the highest: 1624.1 bytes take 129.9 ns, so
// it is 2.08 us from 40 packets on and 83.2 us / n below, all within 10 % of
// jitter (README, Feedback).
func TestShortMessagesStartSlowly(t *testing.T) {
	for _, n := range []units.Bytes{2, 4, 10, 20, 39, 40, 100} {
		sent, _ := credits(t, n, nil)
		want := 1624.12 * 8 / 100 * 16 * 40 / float64(min(n, 40))
		if gap := float64(sent[1] - sent[0]); gap < 0.9*want-1 || gap > 1.1*want+1 {
			t.Errorf("%d packets: %v ns to the second credit, want %v", n, gap, want)
		}
	}
}

// Gaps are uniform within the jitter of 10 % either way, and right on average
// (README, Credits), and so are the sizes (76 to 92 bytes, at least 84 here).
func TestCreditsAreJittered(t *testing.T) {
	f := rack(t, 2)
	var last units.Time
	var gaps, early, late, count, wire float64
	sizes := map[units.Bytes]int{}
	// At half the highest rate, without feedback, the port delays no credit.
	p := params(f, func(p *xpass.Params) { p.Alpha, p.WMin, p.WInit, p.TargetLoss = 0.5, 1e-6, 1e-6, 1; p.WStep = 0 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 20_000_000}},
		OnPacket: func(e model.PacketEvent) {
			if e.Kind != model.Transmitted || !e.Packet.Credit || e.Port != f.Uplink(1) {
				return
			}
			size := e.Packet.WireLen()
			sizes[size]++
			wire += float64(size)
			if gap := float64(e.At - last); last > 0 {
				gaps += gap
				count++
				if gap < 0.95*259.86 {
					early++
				}
				if gap > 1.05*259.86 {
					late++
				}
				if gap < 0.9*259.86-2 || gap > 1.1*259.86+2 {
					t.Fatalf("a gap of %v ns", gap)
				}
			}
			last = e.At
		}})
	sim.Run(2 * units.Millisecond)
	if mean := gaps / count; mean < 259.86*0.995 || mean > 259.86*1.005 || early/count < 0.2 || late/count < 0.2 {
		t.Errorf("%v gaps: %v ns on average, %.2f early, %.2f late", count, mean, early/count, late/count)
	}
	if mean := wire / (count + 1); mean < 86.0 || mean > 86.25 || len(sizes) != 9 {
		t.Errorf("sizes %v, %v on average", sizes, mean)
	}
}

// A sender stops its credits as soon as those of one round trip cover what is
// left; waiting until everything is sent wastes a round trip of credits
// (README, Credits).
func TestCreditStopComesEarly(t *testing.T) {
	waste := map[bool]float64{}
	for _, early := range []bool{true, false} {
		for n := units.Bytes(200); n < 240; n++ {
			_, sim := credits(t, n, func(p *xpass.Params) {
				if !early {
					p.EarlyStop = 0
				}
			})
			waste[early] += float64(sim.Host(0).Counter("credits_wasted")) / 40
		}
	}
	t.Logf("credits wasted: %.1f with early stop, %.1f without", waste[true], waste[false])
	if waste[true] > 0.8*waste[false] || waste[false] < 10 {
		t.Errorf("credits wasted: %.1f with early stop, %.1f without", waste[true], waste[false])
	}
}

// Every credit that arrives brings one data packet, or is counted as wasted.
func TestOneDataPacketForEachCredit(t *testing.T) {
	f := rack(t, 4)
	got := map[string]int64{}
	var sends []model.Send
	for i := range 60 {
		sends = append(sends, model.Send{At: units.Time(i) * 5000, Src: topo.HostID(1 + i%3), Dst: 0,
			Size: units.Bytes(1000 * (1 + i))})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, OnPacket: func(e model.PacketEvent) {
		if e.Kind == model.Arrived && f.Nodes[e.Port.Peer].Kind == topo.Host {
			got[xpass.Parse(e.Packet.Header()).Kind]++
		}
	}})
	modeltest.AllDone(t, f, sim, units.Second)
	if wasted := modeltest.Counted(f, sim, "credits_wasted"); got["CREDIT"] != got["DATA"]+wasted {
		t.Errorf("%d credits, %d data packets, %d wasted", got["CREDIT"], got["DATA"], wasted)
	}
	if drops := sim.Totals().PortStats.CreditDrops; modeltest.Counted(f, sim, "credits_sent") != got["CREDIT"]+drops {
		t.Errorf("%d sent, %d arrived, %d dropped", modeltest.Counted(f, sim, "credits_sent"), got["CREDIT"], drops)
	}
}

// A pair has 40 connections, one message at a time on each; further messages
// wait (README, Connections).
func TestFortyMessagesAtATime(t *testing.T) {
	f := rack(t, 2)
	asked := 0
	var sends []model.Send
	for range 100 {
		sends = append(sends, model.Send{Dst: 1, Size: 1_000_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, OnPacket: func(e model.PacketEvent) {
		if e.Kind == model.Transmitted && e.Port == f.Uplink(0) &&
			xpass.Parse(e.Packet.Header()).Kind == "CREDIT_REQUEST" {
			asked++
		}
	}})
	sim.Run(90 * units.Microsecond)
	if asked != 40 {
		t.Errorf("%d requests", asked)
	}
	modeltest.AllDone(t, f, sim, units.Second)
	if sim.Totals().Delivered != 100 {
		t.Errorf("%+v", sim.Totals().Counts)
	}
}

// Credits that came too late for one message were not lost: the counts begin anew
// with the connection's next one (README, Feedback; SIRD's port resets its agent).
func TestLateCreditsDoNotCountAgainstTheNextMessage(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *xpass.Params) { p.Connections, p.EarlyStop = 1, 0 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 200 * mss},
		{Dst: 1, Size: 8}}})
	for sim.Totals().Delivered == 0 {
		sim.Run(sim.Now() + 100)
	}
	if _, lost := at(sim, 1).Loss(); lost != 0 {
		t.Fatalf("%d credits lost on an idle fabric", lost)
	}
	modeltest.AllDone(t, f, sim, units.Millisecond)
	wasted := sim.Host(0).Counter("credits_wasted")
	if _, lost := at(sim, 1).Loss(); lost != 0 || wasted < 10 {
		t.Errorf("%d credits counted as lost, %d wasted", lost, wasted)
	}
}
