package sird_test

import (
	"strings"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// dead makes a Config.Lose that cuts a host off for a span of time.
func dead(h topo.HostID, from, until units.Time) func(model.PacketEvent) bool {
	return func(e model.PacketEvent) bool { return (e.Src == h || e.Dst == h) && e.At >= from && e.At < until }
}

// README, Loss and silence: after MaxResends announcements without an answer the
// message fails, its credit is released and the application gets an error.
func TestMessageToADeadReceiverFailsAndItsCreditIsReleased(t *testing.T) {
	f := rack(t, 3)
	for _, c := range []struct {
		name string
		from units.Time // when the receiver dies
		size units.Bytes
		most units.Time // until the message fails
	}{
		{"never there, 8 bytes", 0, 8, 26 * units.Millisecond},
		{"never there, a request", 0, 5_000_000, 26 * units.Millisecond},
		{"never there, unscheduled", 0, 90_000, 26 * units.Millisecond},
		{"dies in the middle", 100 * units.Microsecond, 5_000_000, 300 * units.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := newSim(t, model.Config{Fabric: f, Lose: dead(1, c.from, units.Never), Sends: []model.Send{
				{Src: 0, Dst: 1, Size: c.size}, {Src: 0, Dst: 2, Size: 3_000_000},
			}})
			if !sim.RunUntilDone(units.Second) {
				t.Fatalf("not done: %s", modeltest.Undone(sim))
			}
			for _, m := range sim.Messages() {
				if m.Dst == 2 {
					// The other receiver has the uplink to itself from then on.
					if m.Delivered > units.Millisecond {
						t.Errorf("the other receiver's message is %+v, want it delivered within 1 ms", m)
					}
					continue
				}
				if m.Failed == units.Never || m.Failed > c.most || m.Failed < 20*units.Millisecond ||
					m.Acked != units.Never {
					t.Errorf("got %+v, want it failed from 20 ms to %v", m, c.most)
				}
				if !strings.Contains(m.Reason, "h1-2 did not answer") {
					t.Errorf("the reason is %q, want one with h1-2", m.Reason)
				}
			}
			if held := at(sim, 0).Held(); held != 0 {
				t.Errorf("%d of credit still held, want none", held)
			}
			if leak := at(sim, 0).Leaks(); leak != "" {
				t.Errorf("it leaks: %s", leak)
			}
		})
	}
}

// Paper, section 4.4; README, Loss and silence: the credit of a silent sender is
// reclaimed. B is then there for the others again, whose messages take hardly
// longer than without it; what the silent one never sent is abandoned in the end.
func TestCreditOfADeadSenderIsReclaimedAndOthersAreUnaffected(t *testing.T) {
	f := rack(t, 4)
	for _, c := range []struct {
		name string
		size units.Bytes
		each int
		dies units.Time
	}{
		{"one large message", 10_000_000, 1, 350_000},
		{"many messages", 1_000_000, 12, 350_000},
		{"unscheduled prefixes", 90_000, 6, 314_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := params(f, func(p *sird.Params) { p.LossTimeout = units.Millisecond })
			sends := []model.Send{{Src: 2, Dst: 0, Size: 60_000_000}, {Src: 3, Dst: 0, Size: 120_000_000}}
			for range c.each {
				sends = append(sends, model.Send{At: 300_000, Src: 1, Dst: 0, Size: c.size})
			}
			// The sender dies when its requests, or the first packets of its prefixes, have
			// arrived.
			sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, Lose: dead(1, c.dies, units.Never)})
			r := at(sim, 0)
			sim.Run(400 * units.Microsecond)
			if r.InFlight(1) < 50_000 {
				t.Fatalf("%d of credit out to the sender that is to die, want 50,000 or more", r.InFlight(1))
			}
			// The silence is noticed within 3 timeouts (it is checked for every half of one).
			reclaimed := 400*units.Microsecond + 3*p.LossTimeout
			sim.Run(reclaimed)
			if got := r.InFlight(1); got > frame {
				t.Errorf("%d of credit out at %v, want at most a frame", got, sim.Now())
			}
			before := sim.Port(f.Downlink(0).ID).WireBytes
			used, samples := 0.0, 0.0
			for sim.Now() < 4*reclaimed {
				sim.Run(sim.Now() + 20*units.Microsecond)
				used += float64(r.InFlight(1))
				samples++
			}
			rate := modeltest.RateOf(units.Bytes(sim.Port(f.Downlink(0).ID).WireBytes-before), 3*reclaimed)
			if used/samples > 0.02*float64(p.BDP) || rate < 99*units.Gbps {
				t.Errorf("after the reclaim %.0f of credit is out to the dead on average, the others have %v: "+
					"want less than %.0f and at least 99 Gbps", used/samples, rate, 0.02*float64(p.BDP))
			}
			if sim.RunUntilDone(units.Second); at(sim, 0).Leaks() != "" {
				sim.Run(sim.Now() + 100*units.Millisecond)
			}
			if leak := r.Leaks(); leak != "" {
				t.Errorf("it leaks: %s", leak)
			}
			// All that the dead sender owes is abandoned together with the first message.
			resends := modeltest.Counted(f, sim, "resends_asked")
			abandoned := modeltest.Counted(f, sim, "inbound_messages_abandoned")
			if resends > int64(5*c.each) || abandoned == 0 || abandoned > int64(c.each) {
				t.Errorf("%d RESENDs, %d messages abandoned; want at most %d, and 1 to %d",
					resends, abandoned, 5*c.each, c.each)
			}
			for _, m := range sim.Messages() {
				if m.Src == 2 && m.Delivered == units.Never {
					t.Errorf("got %+v, want it delivered", m)
				}
			}
		})
	}
}

// README, Silence: a sender that dies while nobody else sends may be cut off by the receiver's own link. It is
// asked less and less often, its credit comes back after 2T even so, and in the end nothing is left of it.
func TestNothingIsKeptOfASenderThatDiesAlone(t *testing.T) {
	f := rack(t, 3)
	for name, lost := range map[string]func(e model.PacketEvent) bool{
		"both ways":   func(e model.PacketEvent) bool { return e.Src == 1 || e.Dst == 1 },
		"to it":       func(e model.PacketEvent) bool { return e.Dst == 1 },
		"from it":     func(e model.PacketEvent) bool { return e.Src == 1 },
		"of receiver": func(e model.PacketEvent) bool { return e.Src == 0 || e.Dst == 0 },
	} {
		p := params(f, nil)
		sim := newSim(t, model.Config{Fabric: f, Params: p,
			Sends: []model.Send{{Src: 1, Size: 5_000_000}, {Src: 2, Size: 8}},
			Lose:  func(e model.PacketEvent) bool { return e.At >= 200*units.Microsecond && lost(e) }})
		sim.Run(200*units.Microsecond + 3*p.LossTimeout)
		if used := at(sim, 0).Used(); used != 0 {
			t.Errorf("%s: %d of B in use after 3 timeouts, want none", name, used)
		}
		sim.Run(300 * units.Millisecond)
		if leak, wake := at(sim, 0).Leaks(), at(sim, 0).Wake(); leak != "" || wake != units.Never {
			t.Errorf("%s: wakes at %v, %s", name, wake, leak)
		}
		if asked := sim.Host(0).Counter("credit_probes"); asked > 300 {
			t.Errorf("%s: asked %d times, want 300 at most", name, asked)
		}
	}
}

// README, Silence: the time without progress begins with the first credit, however long the
// message had to wait.
func TestSenderIsAskedFromItsFirstCreditOn(t *testing.T) {
	p := params(rack(t, 2), nil)
	s := newCore(t, rack(t, 2), 0, p)
	s.get(0, 1, sird.Header{Kind: "DATA", Request: true, Length: 1_000_000}, 0, false)
	asked := func(now units.Time) (probes, grants int) {
		for h, _, ok := s.next(now); ok; h, _, ok = s.next(now) {
			if h.Kind == "CREDIT" && h.Request {
				probes++
			} else if h.Kind == "CREDIT" {
				grants++
			} else if h.Kind != "BUSY" {
				t.Fatalf("sends %+v", h)
			}
		}
		return probes, grants
	}
	const begin = 50 * units.Millisecond // the host has not come to send before
	if probes, grants := asked(begin); probes != 0 || grants != 1 {
		t.Fatalf("at first %d probes and %d grants, want one grant", probes, grants)
	}
	for _, c := range []struct {
		after  units.Time
		probes int
	}{{8, 0}, {30, 0}, {33, 1}, {40, 0}, {49, 1}, {65, 1}} {
		if probes, _ := asked(begin + c.after*units.Microsecond); probes != c.probes {
			t.Errorf("%d us later: %d probes, want %d", c.after, probes, c.probes)
		}
	}
}

// README, Sender: credit is returned when the message that it was for is complete.
func TestCreditThatNothingIsLeftForGoesBack(t *testing.T) {
	s := newCore(t, rack(t, 2), 0, params(rack(t, 2), nil))
	s.Send(0, transport.Message{Peer: 1, Size: 1_000_000})
	s.next(0) // the request
	s.get(10, 1, sird.Header{Kind: "CREDIT", Credit: 50_000}, 0, false)
	s.get(10, 1, sird.Header{Kind: "ACK", Credit: 50_000}, 0, false)
	h, _, ok := s.next(20)
	if !ok || h.Kind != "BUSY" || h.Credit != 50_000 || s.Held() != 0 || s.Leaks() != "" {
		t.Errorf("sends %+v, holds %d: %s", h, s.Held(), s.Leaks())
	}
}

// README, Header: epochs are counted modulo 16. However many outages make the receiver begin
// new ones, messages go on soon after, and credit is neither lost nor minted.
func TestEpochsWrapSafely(t *testing.T) {
	f := rack(t, 3)
	const timeout = 50 * units.Microsecond
	for _, resends := range []int{8, 50} {
		wrapEpochs(t, f, params(f, func(p *sird.Params) { p.LossTimeout, p.MaxResends = timeout, resends }))
	}
}

func wrapEpochs(t *testing.T, f *topo.Fabric, p *sird.Params) {
	timeout := p.LossTimeout
	for name, broken := range map[string]func(e model.PacketEvent) bool{
		"both ways": func(e model.PacketEvent) bool { return true },
		"data":      func(e model.PacketEvent) bool { return e.Src == 0 },
		"credit":    func(e model.PacketEvent) bool { return e.Src == 1 },
	} {
		for _, outage := range []units.Time{2, 8, 16, 45} {
			// After an outage a sender announces its message again within 32 timeouts. A new
			// one begins shortly before the next outage. Host 2 sends all the time.
			const begin, rounds = 33 * units.Microsecond, 20
			period := begin + outage*timeout + 40*timeout
			var sends []model.Send
			for i := range units.Time(rounds) {
				sends = append(sends, model.Send{At: i * period, Src: 0, Dst: 1, Size: 500_000})
			}
			other := traffic.Stream{Name: "other", Pattern: traffic.PatternFixed, From: []string{"h1-3"},
				To: []string{"h1-2"}, Size: 110_000, Interval: 40 * units.Microsecond}
			sim := newSim(t, model.Config{
				Fabric: f, Params: p, Sends: sends, Streams: []traffic.Stream{other}, To: rounds * period,
				Lose: func(e model.PacketEvent) bool {
					at := e.At % period
					return at >= begin && at < begin+outage*timeout && e.Src != 2 && e.Dst != 2 && broken(e)
				},
			})
			for i := range units.Time(rounds) {
				for end := (i + 1) * period; sim.Now() < end; {
					sim.Run(min(end, sim.Now()+5*units.Microsecond))
					bounded(t, sim, 1)
				}
				if m := sim.Messages()[i]; m.Delivered == units.Never {
					t.Fatalf("%s, %d timeouts, round %d: epochs %d and %d, not done: %s", name, outage, i,
						at(sim, 1).Epoch(0), at(sim, 0).SenderEpoch(1), modeltest.Undone(sim))
				}
			}
			if n := modeltest.Counted(f, sim, "credit_reclaims"); outage > 8 && n <= 16 {
				t.Errorf("%s, %d timeouts: %d reclaims: epochs do not wrap", name, outage, n)
			}
			if !sim.RunUntilDone(units.Second) {
				t.Fatalf("not done: %s", modeltest.Undone(sim))
			}
			modeltest.Idle(t, f, sim)
		}
	}
}
