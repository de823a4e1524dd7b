package dcpim_test

import (
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Short messages: messages of up to 1 BDP are sent at once after the
// RTS, without a matching. So their latency is the unloaded one, and the RTS's.
func TestShortMessagesGoAtOnce(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	short := units.Bytes(at(newSim(t, model.Config{Fabric: f}), 0).ShortPackets()) * mss
	rts := f.Uplink(0).Rate.TimeFor(86)
	for _, size := range []units.Bytes{1, mss, mss + 1, 40_000, short} {
		kinds := map[string]int{}
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 3, Size: size}},
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok {
					kinds[h.Kind]++
					if h.Kind == "DATA" && (!h.Unscheduled || e.Packet.Priority != 1) {
						t.Errorf("%v: %+v at priority %d", size, h, e.Packet.Priority)
					}
				}
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		want := f.UnloadedExact(0, 3, size, dcpim.Protocol.Framing(f.Spec.MTU)) + rts
		if got := sim.Messages()[0].Latency(); got < want-1 || got > want+2 {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
		if n := int((size + mss - 1) / mss); kinds["DATA"] != n || kinds["RTS"] != 1 || kinds["RTSACK"] != 1 ||
			kinds["ACK"] != 1 || len(kinds) != 4 {
			t.Errorf("%v: %v", size, kinds)
		}
	}
}

// Long messages wait for the matching (README, Matching). A message of one
// packet more than a BDP sends its first data only when the matching has ended
// and a token has come; an idle fabric's matching gives it all the channels
// that it can use.
func TestLargeMessagesWaitForTheMatching(t *testing.T) {
	f := rack(t, 4)
	host := at(newSim(t, model.Config{Fabric: f}), 0)
	long := units.Bytes(host.ShortPackets()*mss) + 1
	control := f.Transit(f.Path(1, 0, 0), topo.MinWire)
	for _, c := range []struct {
		at   units.Time
		size units.Bytes
		// The epoch in whose data phase it begins: the RTS takes part in a
		// matching up to its last round.
		epoch int64
	}{
		{0, long, 0}, {0, 1_000_000, 0}, {host.Phase(0) - host.Round() - 3*units.Microsecond, 1_000_000, 0},
		{host.Phase(0) - host.Round() - 2*units.Microsecond, 1_000_000, 1}, {host.Phase(3), 1_000_000, 4},
	} {
		first := units.Never
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{At: c.at, Dst: 1, Size: c.size}},
			Params: params(f, withoutPromptLinks),
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
					first = min(first, e.At)
					if h.Unscheduled || e.Packet.Priority != 0 {
						t.Errorf("%+v at priority %d", h, e.Packet.Priority)
					}
				}
			}})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		if want := host.Phase(c.epoch) + control; first < want || first > want+15 { // after an ACCEPT and a REQUEST
			t.Errorf("%v at %v: first data at %v, want %v", c.size, c.at, first, want)
		}
		alone := f.UnloadedExact(0, 1, c.size, dcpim.Protocol.Framing(f.Spec.MTU))
		latency, wait := sim.Messages()[0].Latency(), host.Phase(c.epoch)-c.at
		if latency < wait+alone || c.size > long && latency > wait+alone*105/100+2*control {
			t.Errorf("%v at %v: %v, want the wait of %v and %v", c.size, c.at, latency, wait, alone)
		}
		t.Logf("%v at %v: latency %v, alone %v: slowdown %.2f", c.size, c.at, latency, alone,
			float64(latency)/float64(alone))
	}
}

// README, Short messages: they join the matching if they are not complete after
// their packets' time and the token resend timeout of 1 BDP, counted from their
// first packet.
func TestIncompleteShortMessageJoinsTheMatching(t *testing.T) {
	f := rack(t, 4)
	host := at(newSim(t, model.Config{Fabric: f}), 0)
	for _, lost := range []uint32{0, mss, 9 * mss} {
		var tokens []dcpim.Header
		first := units.Never
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 10 * mss}},
			Params: params(f, withoutPromptLinks),
			Lose: loses(f, 1, func(_ model.PacketEvent, h dcpim.Header) bool {
				return h.Kind == "DATA" && h.Offset == lost
			}),
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "TOKEN" {
					tokens = append(tokens, h)
					first = min(first, e.At)
				}
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		if len(tokens) != 1 || tokens[0].Offset != lost || first < host.Phase(0) || first > host.Phase(0)+2 {
			t.Errorf("offset %d lost: tokens %+v at %v, want one at %v", lost, tokens, first, host.Phase(0))
		}
	}
}

// A matched sender needs no new matching for its next message
// (PimHost::receive_rts): its shortest message gets tokens at once.
func TestMatchedPairServesANewMessageAtOnce(t *testing.T) {
	f := rack(t, 4)
	host := at(newSim(t, model.Config{Fabric: f}), 0)
	begin := host.Phase(0) + 5*units.Microsecond
	first := units.Never
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{
		{Dst: 1, Size: 2_000_000}, {At: begin, Dst: 1, Size: 100_000},
	}, OnPacket: func(e model.PacketEvent) {
		if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" && h.ID == 1 {
			first = min(first, e.At)
		}
	}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	if rtt := f.Transit(f.Path(0, 1, 0), 84) * 2; first < begin+rtt || first > begin+rtt+units.Microsecond {
		t.Errorf("first data %v after it began, want a round trip of %v", first-begin, rtt)
	}
}

// A short message skips as many tokens as it has packets, so that the
// downlink has room for it (README, Tokens; TOKEN_HOLD in pimhost.cpp). The
// window is wide here: a narrow one would have much the same effect, since data
// comes late after the message.
func TestShortMessageHoldsTokensBack(t *testing.T) {
	f := rack(t, 4)
	begin := at(newSim(t, model.Config{Fabric: f}), 0).Phase(0) + 5*units.Microsecond
	tokens := map[bool]int{}
	for _, hold := range []bool{true, false} {
		sim := newSim(t, model.Config{Fabric: f, Params: params(f,
			func(p *dcpim.Params) { p.SkipTokens, p.TokenWindow = hold, 4 }), Sends: []model.Send{
			{Dst: 1, Size: 3_000_000}, {At: begin, Src: 2, Dst: 1, Size: 40 * mss},
		}, OnPacket: func(e model.PacketEvent) {
			h, ok := leavesHost(f, e)
			if ok && h.Kind == "TOKEN" && e.At > begin && e.At < begin+10*units.Microsecond {
				tokens[hold]++
			}
		}})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	}
	if d := tokens[false] - tokens[true]; d < 30 || d > 40 {
		t.Errorf("%d tokens in 10 us with the hold, %d without: want up to 40 fewer", tokens[true], tokens[false])
	}
}
