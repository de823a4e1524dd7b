package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Paper, Algorithm 2, line 7; README, CSN: data carries csn iff the credit held,
// before the packet spends its own, strictly exceeds SThr, and at least two messages
// are outbound.
func TestCSNIffCreditHeldExceedsSThrAndMessagesCompete(t *testing.T) {
	f := rack(t, 4)
	for _, c := range []struct {
		name     string
		messages []topo.HostID  // receivers of large messages
		credit   map[int]uint32 // from receivers
		self     units.Bytes    // size of a message that credits itself, to host 3
		least    int            // csn_messages, 2 if 0
		want     []bool         // of the first data packets
	}{
		{"at SThr", []topo.HostID{1, 2}, map[int]uint32{1: 50_000}, 0, 0, []bool{false, false}},
		{"a byte above", []topo.HostID{1, 2}, map[int]uint32{1: 50_001}, 0, 0, []bool{true, false}},
		{"two packets above", []topo.HostID{1, 2}, map[int]uint32{1: 50_000 + 2*frame}, 0, 0,
			[]bool{true, true, false}},
		{"summed over receivers", []topo.HostID{1, 2}, map[int]uint32{1: 25_000, 2: 25_001}, 0, 0, []bool{true, false}},
		{"one message", []topo.HostID{1}, map[int]uint32{1: 90_000}, 0, 0, []bool{false, false}},
		{"two messages to one receiver", []topo.HostID{1, 1}, map[int]uint32{1: 90_000}, 0, 0, []bool{true}},
		{"one message, if it need not compete", []topo.HostID{1}, map[int]uint32{1: 90_000}, 0, 1, []bool{true}},
		{"self-allocated credit counts", []topo.HostID{1, 2}, nil, 33 * mss, 0, []bool{true, false}},
		{"self-allocated credit at SThr", []topo.HostID{1, 2}, map[int]uint32{1: 50_000 - 10*frame}, 10 * mss, 0,
			[]bool{false}},
		{"both kinds", []topo.HostID{1, 2}, map[int]uint32{1: 50_000 - 10*frame + 1}, 10 * mss, 0, []bool{true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCore(t, f, 0, params(f, func(p *sird.Params) {
				if c.least > 0 {
					p.CSNMessages = c.least
				}
			}))
			ids := map[topo.HostID]transport.MessageID{}
			for _, r := range c.messages {
				s.Send(0, transport.Message{ID: ids[r], Peer: r, Size: 10_000_000})
				ids[r]++
			}
			for r := 1; r < 4; r++ {
				if c.credit[r] > 0 {
					s.get(0, topo.HostID(r), sird.Header{Kind: "CREDIT", Credit: c.credit[r]}, 0, false)
				}
			}
			if c.self > 0 {
				s.Send(0, transport.Message{Peer: 3, Size: c.self})
			}
			for i := 0; i < len(c.want); {
				h, n, ok := s.next(0)
				if !ok {
					t.Fatal("nothing to send")
				}
				if n == 0 {
					if h.CSN {
						t.Errorf("a control packet with csn: %+v", h)
					}
					continue
				}
				if h.CSN != c.want[i] {
					t.Errorf("packet %d has csn %v, want %v", i, h.CSN, c.want[i])
				}
				i++
			}
		})
	}
}

// README, CSN: a message of which all was sent competes with none, though it is not acknowledged;
// it does again when bytes of it are to be sent again.
func TestMessageThatIsSentCompetesWithNone(t *testing.T) {
	s := newCore(t, rack(t, 3), 0, params(rack(t, 3), nil))
	csn := func(want bool) {
		t.Helper()
		for {
			h, n, ok := s.next(0)
			if !ok {
				t.Fatal("nothing to send")
			}
			if n > 0 && h.CSN != want {
				t.Fatalf("%+v, want csn %v", h, want)
			}
			if n > 0 {
				return
			}
		}
	}
	s.Send(0, transport.Message{Peer: 1, Size: 2 * mss})
	csn(false)
	csn(false)
	s.Send(0, transport.Message{Peer: 2, Size: 1_000_000})
	s.get(0, 2, sird.Header{Kind: "CREDIT", Credit: 90_000}, 0, false)
	csn(false)
	s.get(0, 1, sird.Header{Kind: "RESEND", Credit: frame, Length: mss}, 0, false)
	csn(true) // of either
}

// README, CSN: only data carries it. An SThr of inf turns it off.
func TestControlPacketsNeverCarryCSN(t *testing.T) {
	f := rack(t, 6)
	for _, sthr := range []sird.Multiple{0.1, inf} {
		marked := map[string]int{}
		p := params(f, func(p *sird.Params) { p.SThr, p.LossTimeout = sthr, 100*units.Microsecond })
		sim := newSim(t, model.Config{
			Fabric: f, Params: p, Sends: crossfire(3, 3, 6, 600_000), Seed: 2,
			// Losses cause RESEND and BUSY.
			Lose: func(e model.PacketEvent) bool { return e.Port == f.Downlink(e.Dst) && e.At%97 == 0 },
			OnPacket: func(e model.PacketEvent) {
				h, ok := leavesHost(f, e)
				if !ok {
					return
				}
				if h.Request {
					h.Kind = "request " + h.Kind
				}
				if h.CSN {
					marked[h.Kind]++
				} else {
					marked[h.Kind] += 0
				}
			},
		})
		modeltest.AllDone(t, f, sim, 50*units.Millisecond)
		for _, kind := range []string{"CREDIT", "RESEND", "ACK", "request DATA", "DATA"} {
			if _, seen := marked[kind]; !seen {
				t.Errorf("no %s seen", kind)
			}
		}
		for kind, n := range marked {
			if want := kind == "DATA" && sthr != inf; want != (n > 0) {
				t.Errorf("SThr %v: %d %s packets with csn", sthr, n, kind)
			}
		}
	}
}
