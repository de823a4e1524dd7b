package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// unscheduledMost is the largest message of at most 1 BDP of wire bytes: 65
// packets of 1538.
const unscheduledMost = 65 * mss

// Paper, section 3, "Starting at line rate", and section 4.4; README, Sender: wire
// bytes are compared with UnschT.
func TestMessageUpToUnschTGoesAtOnceAtLineRate(t *testing.T) {
	f := rack(t, 2)
	for _, size := range []units.Bytes{1, 8, mss, mss + 1, 50_000, unscheduledMost} {
		free, credits := int64(0), 0
		sim := newSim(t, model.Config{
			Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}}, OnPacket: func(e model.PacketEvent) {
				h, ok := leavesHost(f, e)
				switch {
				case !ok:
				case h.Kind == "CREDIT":
					credits++
				case h.Kind == "DATA":
					if e.PS != free || h.Scheduled || h.Request || e.Packet.PayloadLen == 0 {
						t.Errorf("%v: %+v at %d ps, want unscheduled data at %d", size, h, e.PS, free)
					}
					free += f.Uplink(0).Rate.Picoseconds(e.Packet.WireLen())
				}
			},
		})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		want := f.UnloadedExact(0, 1, size, sird.Protocol.Framing(f.Spec.MTU))
		if got := sim.Messages()[0].Latency(); credits != 0 || got < want-1 || got > want+1 {
			t.Errorf("%v: %v with %d credits, want %v with none", size, got, credits, want)
		}
	}
}

// Paper, section 4: messages above UnschT "make an initial credit request by
// sending a zero-length DATA packet". With UnschT 0 all
// ask, with inf none, and then the first BDP goes without credit.
func TestMessageAboveUnschTAsksFirst(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		unscht      sird.Multiple
		size        units.Bytes
		asks        bool
		unscheduled int // packets
	}{
		{1, unscheduledMost, false, 65},
		{1, unscheduledMost + 1, true, 0},
		{1, 1_000_000, true, 0},
		{0.5, 32 * mss, false, 32},
		{0.5, 33 * mss, true, 0},
		{32 * frame / 100e3, 32 * mss, false, 32}, // exactly UnschT
		{0, 1, true, 0},
		{0, 8, true, 0},
		{0, 1_000_000, true, 0},
		{4, 200_000, false, 65},
		{inf, unscheduledMost + 1, false, 65},
		{inf, 1_000_000, false, 65},
	} {
		firstCredit := units.Never
		packets, requests, unscheduled := 0, 0, 0
		p := params(f, func(p *sird.Params) { p.UnschT = c.unscht })
		sim := newSim(t, model.Config{
			Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: c.size}}, OnPacket: func(e model.PacketEvent) {
				h, ok := leavesHost(f, e)
				if !ok {
					return
				}
				if h.Kind == "CREDIT" {
					firstCredit = min(firstCredit, e.At)
				}
				if h.Kind != "DATA" {
					return
				}
				packets++
				switch wire := e.Packet.WireLen(); {
				case h.Request:
					requests++
					if packets != 1 || e.At != 0 || e.Packet.PayloadLen != 0 || wire < 84 || wire > 100 ||
						h.Length != uint32(c.size) {
						t.Errorf("%+v: packet %d at %v is a request of %d wire bytes: %+v", c, packets, e.At, wire, h)
					}
				case h.Scheduled:
					if e.At < firstCredit+f.Transit(f.Path(1, 0, 0), 84) {
						t.Errorf("%+v: scheduled data at %v, the first credit left at %v", c, e.At, firstCredit)
					}
				default:
					unscheduled++
				}
			},
		})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		if (requests == 1) != c.asks || requests > 1 || unscheduled != c.unscheduled {
			t.Errorf("%+v: %d requests, %d unscheduled packets", c, requests, unscheduled)
		}
	}
}

// README, Sender: a new message goes unscheduled up to BDP less the
// credit that is held for its receiver, but at least a packet.
func TestUnscheduledPrefixIsReducedByCreditHeldButNotBelowAPacket(t *testing.T) {
	f := rack(t, 3)
	for _, c := range []struct {
		held    uint32
		packets int // of a message of 60
	}{
		{0, 60}, {5 * frame, 60}, {10 * frame, 55}, {10*frame + 1, 55}, {50 * frame, 15},
		{64 * frame, 1}, {65 * frame, 1}, {200_000, 1},
	} {
		s := newCore(t, f, 0, params(f, func(p *sird.Params) { p.UnschT = 1 }))
		s.Send(0, transport.Message{ID: 0, Peer: 1, Size: 10_000_000})
		s.next(0) // the request
		s.get(10, 1, sird.Header{Kind: "CREDIT", Credit: c.held}, 0, false)
		s.Send(20, transport.Message{ID: 1, Peer: 1, Size: 60 * mss})
		s.Send(20, transport.Message{ID: 0, Peer: 2, Size: 60 * mss}) // another receiver: nothing is held for it
		got := map[uint16]int{}
		for h, n, ok := s.next(30); ok; h, n, ok = s.next(30) {
			if h.Kind == "DATA" && n > 0 && !h.Scheduled {
				got[h.Prefix]++
			}
		}
		want := map[uint16]int{60: 60, uint16(c.packets): c.packets}
		if c.packets == 60 {
			want[60] = 120
		}
		for prefix, packets := range want {
			if got[prefix] != packets || len(got) != len(want) {
				t.Errorf("with %d held: unscheduled packets by prefix %v, want %v", c.held, got, want)
			}
		}
	}
}

// README, Crediting: as released, the whole prefix is charged to
// B and to the sender's bucket when its first packet arrives, and each packet
// gives its part back; by the paper's Algorithm 1 only scheduled bytes count.
func TestUnscheduledBytesAreChargedIfAccountUnscheduledSaysSo(t *testing.T) {
	f := rack(t, 2)
	for _, account := range []bool{true, false} {
		p := params(f, func(p *sird.Params) { p.AccountUnscheduled = account })
		from, to := newCore(t, f, 0, p), newCore(t, f, 1, p)
		from.Send(0, transport.Message{Peer: 1, Size: 40*mss + 100})
		wire := units.Bytes(40*frame + 100 + 96)
		for range 41 {
			h, n, ok := from.next(0)
			if !ok {
				t.Fatal("nothing to send")
			}
			to.get(100, 0, h, n, false)
			wire -= units.Bytes(n + 96)
			want := wire
			if !account {
				want = 0
			}
			if to.Used() != want || to.InFlight(0) != want {
				t.Fatalf("account_unscheduled %v: %d of B and %d of the sender's bucket in use, want %d", account,
					to.Used(), to.InFlight(0), want)
			}
		}
		if to.sink.Deliveries != 1 {
			t.Error("not delivered")
		}
	}
}
