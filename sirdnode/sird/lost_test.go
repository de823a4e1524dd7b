package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// lossCase is one message (and the reply to it) of which chosen packets are lost.
type lossCase struct {
	name   string
	size   units.Bytes
	unscht sird.Multiple
	limit  int
	match  func(e model.PacketEvent, h sird.Header) bool

	from, until                units.Time // of its delivery, after what it takes without loss
	resends, announces, copies int64      // RESENDs, messages announced again, packets sent again
}

// Paper, section 4.4; README, Loss and silence: each kind of packet is lost once.
func TestAnyPacketMayBeLost(t *testing.T) {
	f := rack(t, 2)
	timeout := params(f, nil).LossTimeout
	const round = 8 * units.Microsecond // of a BDP
	first := func(kind string) func(model.PacketEvent, sird.Header) bool {
		return func(_ model.PacketEvent, h sird.Header) bool { return h.Kind == kind }
	}
	dataAt := func(offsets ...uint32) func(model.PacketEvent, sird.Header) bool {
		return func(e model.PacketEvent, h sird.Header) bool {
			for _, o := range offsets {
				if h.Kind == "DATA" && e.Packet.PayloadLen > 0 && h.Offset == o*mss {
					return true
				}
			}
			return false
		}
	}
	for _, c := range []lossCase{
		// The next CREDIT carries the total, so the loss has no effect.
		{name: "a CREDIT", size: 3_000_000, limit: 1, match: first("CREDIT"), until: 2000},
		{name: "ten CREDITs in a row", size: 3_000_000, limit: 10, match: first("CREDIT"), until: 10_000},
		// Nothing follows the last ones: the sender is asked.
		{name: "the last CREDIT", size: 300_000, limit: 1, match: func(_ model.PacketEvent, h sird.Header) bool {
			return h.Kind == "CREDIT" && h.Credit == 208*frame+300_000-208*mss+96
		}, from: 3 * round, until: 7 * round},
		// What was sent later shows the loss: of all but the last packets nobody notices.
		{name: "a scheduled DATA", size: 300_000, limit: 1, match: dataAt(100), until: 200, resends: 1, copies: 1},
		{name: "the last scheduled DATA", size: 300_000, limit: 1, match: dataAt(208), from: 4 * round,
			until: 8 * round, resends: 1, copies: 1},
		{name: "two scheduled DATA apart", size: 300_000, limit: 2, match: dataAt(50, 100), until: 400,
			resends: 2, copies: 2},
		{name: "an unscheduled DATA", size: 50_000, limit: 1, match: dataAt(20), until: 2 * round, resends: 1,
			copies: 1},
		{name: "the first unscheduled DATA", size: 50_000, limit: 1, match: dataAt(0), until: 2 * round, resends: 1,
			copies: 1},
		{name: "the last unscheduled DATA", size: 50_000, limit: 1, match: dataAt(34), from: round, until: 4 * round,
			resends: 1, copies: 1},
		{name: "a DATA and its RESEND", size: 300_000, limit: 2, match: func(e model.PacketEvent, h sird.Header) bool {
			return dataAt(100)(e, h) && h.Scheduled && e.At < timeout || h.Kind == "RESEND"
		}, until: round, resends: 2, copies: 1},
		{name: "a DATA, and again", size: 300_000, limit: 2, match: dataAt(100), until: round, resends: 2, copies: 2},
		// Only the sender knows of these.
		{name: "a message of 8 bytes", size: 8, limit: 1, match: first("DATA"), from: 32 * round, until: 42 * round,
			announces: 1},
		{name: "a message of 8 bytes, three times", size: 8, limit: 3, match: first("DATA"), from: 7 * 32 * round,
			until: 7 * 42 * round, announces: 3},
		{name: "a request", size: 300_000, limit: 1, match: first("DATA"), from: 32 * round, until: 42 * round,
			announces: 1},
		{name: "a request of 8 bytes", size: 8, unscht: -1, limit: 1, match: first("DATA"), from: 32 * round,
			until: 42 * round, announces: 1},
		// The message has arrived, but its sender does not know.
		{name: "an ACK", size: 8, limit: 1, match: first("ACK"), until: 1, announces: 1},
		{name: "an ACK of a large message", size: 300_000, limit: 1, match: first("ACK"), until: 1, announces: 1},
		{name: "two ACKs", size: 50_000, limit: 2, match: first("ACK"), until: 1, announces: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(lossy bool) (*model.Sim, units.Time) {
				cfg := model.Config{
					Fabric: f, Bytes: true, Sends: []model.Send{{Dst: 1, Size: c.size}},
					Params: params(f, func(p *sird.Params) {
						if c.unscht != 0 {
							p.UnschT = 0
						}
					}),
				}
				if lossy {
					cfg.Lose = loses(f, c.limit, c.match)
				}
				sim := newSim(t, cfg)
				modeltest.AllDone(t, f, sim, units.Second)
				return sim, sim.Messages()[0].Latency()
			}
			_, without := run(false)
			sim, latency := run(true)
			if lost := sim.Totals().PortStats.Lost; lost != int64(c.limit) {
				t.Errorf("%d packets lost, want %d", lost, c.limit)
			}
			if more := latency - without; more < c.from || more > c.until {
				t.Errorf("delivered %v later, want %v to %v", more, c.from, c.until)
			}
			resends, announces, copies := modeltest.Counted(f, sim, "resends_asked"),
				modeltest.Counted(f, sim, "messages_announced_again"), modeltest.Counted(f, sim, "retransmissions")
			if resends != c.resends || announces != c.announces || copies != c.copies {
				t.Errorf("%d RESENDs, %d announced again, %d packets sent again; want %d, %d, %d",
					resends, announces, copies, c.resends, c.announces, c.copies)
			}
			if total := sim.Totals(); total.Delivered != 1 || total.Acked != 1 || total.Payload != int64(c.size) ||
				total.Mismatches != 0 {
				t.Errorf("got %+v, want one message of %v delivered and acknowledged", total.Counts, c.size)
			}
		})
	}
}

// README, Silence: an abandoned message that begins again is completed by what was missing; the
// application gets no byte twice.
func TestAbandonedMessageHandsNoByteOverTwice(t *testing.T) {
	f := rack(t, 2)
	s := newCore(t, f, 1, params(f, nil))
	packet := func(now units.Time, k uint32) {
		s.get(now, 0, sird.Header{Kind: "DATA", Length: 5 * mss, Prefix: 5, Offset: k * mss}, mss, false)
	}
	for k := range uint32(3) {
		packet(units.Time(k), k)
	}
	for now := units.Time(0); now < 60*units.Millisecond; now += 10 * units.Microsecond {
		for _, _, ok := s.next(now); ok; _, _, ok = s.next(now) {
		}
	}
	if s.sink.Counts["inbound_messages_abandoned"] != 1 || s.Leaks() != "" {
		t.Fatalf("%d messages abandoned: %s", s.sink.Counts["inbound_messages_abandoned"], s.Leaks())
	}
	for k := range uint32(5) {
		packet(61*units.Millisecond+units.Time(k), k)
	}
	if s.sink.Bytes != 5*mss || s.sink.Deliveries != 1 {
		t.Errorf("%d bytes handed over, %d deliveries; want %d and 1", s.sink.Bytes, s.sink.Deliveries, 5*mss)
	}
}

// README, Loss and silence: after completion the receiver remembers the message, and
// answers a late duplicate with an ACK, without delivering again; it forgets the
// message once the sender's lowest unacknowledged id has passed it.
func TestDuplicateAfterCompletionIsAcknowledgedAgainAndNotDelivered(t *testing.T) {
	f := rack(t, 2)
	s := newCore(t, f, 1, params(f, nil))
	h := sird.Header{Kind: "DATA", ID: 7, Length: 8, Prefix: 1, AboveFloor: 2}
	acks := func(now units.Time) (n int) {
		for h, _, ok := s.next(now); ok; h, _, ok = s.next(now) {
			if h.Kind != "ACK" || h.ID != 7 {
				t.Fatalf("sends %+v", h)
			}
			n++
		}
		return n
	}
	s.get(0, 0, h, 8, false)
	if acks(1)+acks(8_000) != 1 || s.sink.Deliveries != 1 {
		t.Fatal("not delivered and acknowledged")
	}
	for i, late := range []units.Time{8_001, units.Millisecond, units.Second} {
		if i == 2 { // everything below 8 is settled: even now
			s.get(late, 0, sird.Header{Kind: "DATA", ID: 8, Length: 5_000_000, Request: true}, 0, false)
			for _, _, ok := s.next(late); ok; _, _, ok = s.next(late) {
			}
		}
		s.get(late, 0, h, 8, false)
		if n := acks(late); n != 1 || s.sink.Deliveries != 1 || s.sink.Bytes != 8 {
			t.Fatalf("a duplicate after %v: %d acknowledgements, %d deliveries, %d bytes", late, n, s.sink.Deliveries,
				s.sink.Bytes)
		}
	}
}

// README, Silence: silence counts only for messages with credit or unscheduled bytes
// outstanding. A message that SRPT starves for 50 timeouts is neither requested, sent
// again nor failed. Its sender is asked only if it has credit, and answers with a BUSY.
func TestStarvedMessageIsNotLost(t *testing.T) {
	f := rack(t, 4)
	const timeout = 100 * units.Microsecond
	for name, starve := range map[string]func(i int) model.Send{
		"at the receiver": func(i int) model.Send {
			return model.Send{Src: topo.HostID(2 + i%2), Dst: 0, Size: 1_000_000}
		},
		"at the sender": func(i int) model.Send {
			return model.Send{Src: 1, Dst: topo.HostID(2 + i%2), Size: 1_000_000}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := params(f, func(p *sird.Params) { p.LossTimeout, p.SenderFair, p.SThr = timeout, 0, inf })
			sends := []model.Send{{At: 1000, Src: 1, Dst: 0, Size: 3_000_000}}
			for i := range 64 {
				sends = append(sends, starve(i))
			}
			sent, asked, busy := 0, 0, 0
			sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, OnPacket: func(e model.PacketEvent) {
				switch h, ok := leavesHost(f, e); {
				case !ok:
				case e.Src == 1 && e.Dst == 0 && h.Kind == "BUSY":
					busy++
				case e.Src == 1 && e.Dst == 0:
					sent += e.Packet.PayloadLen
				case e.Src == 0 && e.Dst == 1 && h.Kind == "CREDIT" && h.Request:
					asked++
				case h.Kind == "RESEND":
					t.Errorf("%+v at %v, want none", h, e.At)
				}
			}})
			sim.Run(50 * timeout)
			for _, m := range sim.Messages() {
				if m.Size == 3_000_000 && m.Delivered != units.Never {
					t.Fatalf("not starved: %+v", m)
				}
			}
			if name == "at the receiver" && asked != 0 || name == "at the sender" && (asked == 0 || busy < asked-1) {
				t.Errorf("asked %d times, %d BUSYs: want only a starved sender asked, and answers", asked, busy)
			}
			modeltest.AllDone(t, f, sim, units.Second)
			if sent != 3_000_000 {
				t.Errorf("%d bytes sent, want 3,000,000: none twice", sent)
			}
			if n := modeltest.Counted(f, sim, "inbound_messages_abandoned") +
				modeltest.Counted(f, sim, "credit_reclaims"); n != 0 {
				t.Errorf("%d messages abandoned or credits reclaimed, want none", n)
			}
		})
	}
}

// README, Header: duplicates change nothing, for credit travels as totals.
// Every packet comes twice, some late; at every packet the credit that a
// receiver counts out is at most B, and a sender holds no more than its receiver
// counts out to it.
func TestDuplicatesNeverMintCredit(t *testing.T) {
	const senders, receivers = 4, 3
	f := rack(t, senders+receivers)
	for seed := range uint64(5) {
		p := params(f, func(p *sird.Params) { p.UnschT = sird.Multiple(seed % 2) })
		limit := units.Bytes(float64(p.B) * float64(p.BDP))
		var sim *model.Sim
		sim = newSim(t, model.Config{
			Fabric: f, Params: p, Seed: seed, Bytes: true, Sends: append(crossfire(senders, receivers, 4, 400_000),
				crossfire(senders, receivers, 4, 30_000)...),
			Faults: fault.Config{Duplicate: 1, Reorder: 0.1},
			OnPacket: func(e model.PacketEvent) {
				for r := range topo.HostID(receivers) {
					if s := at(sim, r); s.Used()-s.Charged() > limit || s.Broken() != "" {
						t.Fatalf("seed %d: %d of credit out and %d charged at %v: %s", seed, s.Used()-s.Charged(),
							s.Charged(), e.At, s.Broken())
					}
					for s := topo.HostID(receivers); s < receivers+senders; s++ {
						if held, out := at(sim, s).HeldFrom(int(r)), at(sim, r).InFlight(int(s)); held > out {
							t.Fatalf("seed %d: sender holds %d of %d", seed, held, out)
						}
					}
				}
			},
		})
		modeltest.AllDone(t, f, sim, 20*units.Millisecond)
		if total := sim.Totals(); total.HostStats.Extra != total.HostStats.Received ||
			total.Delivered != total.Offered || total.Mismatches != 0 {
			t.Errorf("seed %d: %+v", seed, total)
		}
	}
}
