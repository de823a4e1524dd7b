package sird_test

import (
	"strings"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// slots counts payload that arrives at host 0 from one sender, in slots of time.
type slots struct {
	from  topo.HostID
	every units.Time
	bytes []units.Bytes
}

func (s *slots) count(f *topo.Fabric, e model.PacketEvent) {
	if e.Kind != model.Arrived || e.Port != f.Downlink(0) || e.Src != s.from {
		return
	}
	at := int(e.At / s.every)
	for len(s.bytes) <= at {
		s.bytes = append(s.bytes, 0)
	}
	s.bytes[at] += units.Bytes(e.Packet.PayloadLen)
}

// least returns the lowest rate in any span of time within [from, to), whichever slot it begins with.
func (s *slots) least(span, from, to units.Time) units.BitsPerSecond {
	least := units.BitsPerSecond(1 << 62)
	s.bytes = append(s.bytes, make([]units.Bytes, max(0, int(to/s.every)-len(s.bytes)))...)
	for at := (from + s.every - 1) / s.every; at*s.every+span <= to; at++ {
		n := units.Bytes(0)
		for _, b := range s.bytes[at : at+span/s.every] {
			n += b
		}
		least = min(least, modeltest.RateOf(n, span))
	}
	return least
}

// bounded fails the test if credit is minted or lost at a receiver: what is out may
// exceed B by what came to life again, at most a BDP of each peer that was suspended.
func bounded(t *testing.T, sim *model.Sim, hosts ...topo.HostID) {
	t.Helper()
	for _, h := range hosts {
		s, suspended := at(sim, h), sim.Host(h).Counter("credit_suspensions")
		if excess := s.Excess(suspended); s.Broken() != "" || excess > 0 {
			t.Fatalf("host %d at %v: %d of credit more than the bound: %s", h, sim.Now(), excess, s.Broken())
		}
	}
}

// Paper, section 4.4: "receivers can continue fully utilizing their bandwidth". From 20
// round trips after senders die, a healthy one has 95 % of what it has alone, in
// every 200 us.
func TestHealthySenderHasTheDownlinkSoonAfterOthersDie(t *testing.T) {
	f := rack(t, 6)
	const died = 300 * units.Microsecond
	loop := f.CreditLoop(1, 0)
	small := []traffic.Stream{{Name: "small", Pattern: traffic.PatternFixed, From: []string{"h1-2"},
		To: []string{"h1-1"}, Size: 1000, Rate: 500 * units.Mbps}}
	lost := func(match func(e model.PacketEvent) bool) func(model.PacketEvent) bool {
		return func(e model.PacketEvent) bool { return e.At >= died && match(e) }
	}
	for _, c := range []struct {
		name    string
		lose    func(model.PacketEvent) bool
		streams []traffic.Stream
		deadly  []model.Send
	}{
		{"the way to a sender, whose small messages go on", lost(func(e model.PacketEvent) bool { return e.Dst == 1 }),
			small, []model.Send{{Src: 1, Size: 10_000_000}}},
		{"the way from a sender", lost(func(e model.PacketEvent) bool { return e.Src == 1 }),
			nil, []model.Send{{Src: 1, Size: 10_000_000}}},
		{"a sender", lost(func(e model.PacketEvent) bool { return e.Src == 1 || e.Dst == 1 }),
			nil, []model.Send{{Src: 1, Size: 10_000_000}}},
		{"two senders", lost(func(e model.PacketEvent) bool {
			return e.Src == 1 || e.Dst == 1 || e.Src == 3 || e.Dst == 3
		}), nil, []model.Send{{Src: 1, Size: 10_000_000}, {Src: 3, Size: 11_000_000}}},
		{"three senders with many messages", lost(func(e model.PacketEvent) bool {
			return e.Src%2 == 1 || e.Dst%2 == 1
		}), nil, []model.Send{{Src: 1, Size: 9_000_000}, {Src: 3, Size: 3_000_000}, {Src: 5, Size: 3_100_000},
			{Src: 1, Size: 3_000_000}, {Src: 3, Size: 8_000_000}, {Src: 5, Size: 8_100_000}}},
		// They have all of B when they die: no other is heard of, and the third, which has none, is next in turn.
		{"three senders that go before the others", lost(func(e model.PacketEvent) bool {
			return e.Src%2 == 1 || e.Dst%2 == 1
		}), nil, []model.Send{{Src: 1, Size: 5_000_000}, {Src: 3, Size: 5_100_000}, {Src: 5, Size: 5_200_000}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			healthy := slots{from: 2, every: 5 * units.Microsecond}
			sim := newSim(t, model.Config{Fabric: f, Lose: c.lose, Streams: c.streams, To: 9 * units.Millisecond,
				Sends:    append(c.deadly, model.Send{Src: 2, Dst: 0, Size: 200_000_000}),
				OnPacket: func(e model.PacketEvent) { healthy.count(f, e) }})
			for end := 9 * units.Millisecond; sim.Now() < end; {
				sim.Run(sim.Now() + 10*units.Microsecond)
				bounded(t, sim, 0)
			}
			alone := 100 * units.Gbps * mss / frame
			if c.streams != nil {
				alone -= units.Gbps // what the small messages have
			}
			got := healthy.least(200*units.Microsecond, died+20*loop, 9*units.Millisecond)
			if got < alone*95/100 {
				t.Errorf("%v in the worst 200 us, want 95 %% of %v", got, alone)
			}
			t.Logf("%v in the worst 200 us; charged to the dead sender %d", got, at(sim, 0).InFlight(1))
		})
	}
}

// README, Silence: a sender whose message waits for its first credit looks after a receiver that it does not hear of,
// the sooner the shorter it has waited: it learns of a restart while the wait does not matter.
func TestSenderThatWaitsForCreditNoticesARestart(t *testing.T) {
	const us, senders = units.Microsecond, 11
	f := rack(t, 1+senders)
	var sends []model.Send
	const begin = 3000 * us // that long they know its first life: what names another is not late
	for src := range topo.HostID(senders) {
		sends = append(sends, model.Send{Src: 1 + src, Size: 8},
			model.Send{At: begin, Src: 1 + src, Size: 60_000_000 + units.Bytes(src)}) // SRPT gives credit to the first
	}
	for _, c := range []struct{ dies, until units.Time }{{begin + 100*us, 700 * us}, {begin + 2000*us, 2500 * us}} {
		sim := newSim(t, model.Config{Fabric: f, Sends: sends, Timeline: fault.Timeline{
			{At: c.dies, Restart: 100 * us, Host: f.HostName(0), Do: fault.Kill}}})
		sim.Run(20 * units.Millisecond)
		for _, m := range sim.Messages() {
			if m.Size == 8 {
				continue
			}
			if after := m.Failed - c.dies - 100*us; after > c.until || !strings.Contains(m.Reason, "restarted") {
				t.Errorf("dies at %v: host %d has %q %v after it is back, want to notice in %v", c.dies, m.Src,
					m.Reason, after, c.until)
			}
		}
		if n := modeltest.Counted(f, sim, "receivers_checked"); n > 4*senders {
			t.Errorf("dies at %v: %d looks at receivers, want at most 4 of each sender", c.dies, n)
		}
	}
}

// Messages without a BDP's worth of credit lose two thirds of their packets in a port
// of 2 MB: what is missing is asked for while the rest arrives.
func TestLostPrefixesLeaveNoGap(t *testing.T) {
	f := rack(t, 41)
	var sends []model.Send
	for src := range topo.HostID(40) {
		sends = append(sends, model.Send{Src: 1 + src, Size: 90_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, QueueLimit: 2_000_000})
	var charged units.Bytes
	for !sim.RunUntilDone(sim.Now()+5*units.Microsecond) && sim.Now() < units.Second {
		bounded(t, sim, 0)
		if sim.Now() > 500*units.Microsecond {
			charged = max(charged, at(sim, 0).Charged())
		}
	}
	took := sim.Now()
	modeltest.AllDone(t, f, sim, units.Second)
	dropped := int64(0)
	for i := range f.Ports {
		dropped += sim.Port(f.Ports[i].ID).Drops
	}
	least := (100 * units.Gbps).TimeFor(40 * 63 * frame)
	t.Logf("%d dropped, done after %v, of which %v at line rate; %d charged at most after 0.5 ms", dropped, took, least,
		charged)
	if dropped < 1000 || took > least*10/9+2*f.CreditLoop(1, 0) {
		t.Errorf("done after %v with %d drops, want 90 %% of the line rate: %v", took, dropped, least*10/9)
	}
}

// What is requested again is a candidate of the receiver's policy like other bytes: B bounds
// it, and the pacer spaces it. (Before, RESENDs went around both.)
func TestRequestsAreUnderB(t *testing.T) {
	f := rack(t, 101)
	var sends []model.Send
	for src := range topo.HostID(100) {
		for range 20 {
			sends = append(sends, model.Send{Src: 1 + src, Size: 30_000})
		}
	}
	requests, closest, last := 0, units.Never, -units.Second
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, QueueLimit: 2_000_000, OnPacket: func(e model.PacketEvent) {
		if h, ok := leavesHost(f, e); ok && h.Kind == "RESEND" && h.Length == mss {
			requests++
			closest, last = min(closest, e.At-last), e.At
		}
	}})
	for !sim.RunUntilDone(sim.Now()+10*units.Microsecond) && sim.Now() < units.Second {
		bounded(t, sim, 0)
	}
	modeltest.AllDone(t, f, sim, units.Second)
	if requests < 1000 || closest < 80 {
		t.Errorf("%d requests, %v apart at least: want 1000, paced at 123 ns", requests, closest)
	}
	if took, least := sim.Messages()[0], (100 * units.Gbps).TimeFor(2000*21*frame); took.Acked > 2*least {
		t.Errorf("acknowledged at %v, want within %v", took.Acked, 2*least)
	}
}
