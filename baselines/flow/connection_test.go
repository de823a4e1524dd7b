package flow_test

import (
	"strings"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

const us = units.Microsecond

// full is the payload of a full packet with an MTU of 1500.
const full = 1443

// README, Connections: 40 connections per ordered pair, one message at a time
// on each; the 41st message waits until a connection is released, and then the
// 42nd, in order.
func TestFortyMessagesAtOnceThenInOrder(t *testing.T) {
	f := rack(t, 2)
	started := map[transport.MessageID]units.Time{}
	onConnection := map[uint8]transport.MessageID{}
	acked := map[transport.MessageID]units.Time{}
	var sends []model.Send
	for range 60 {
		sends = append(sends, model.Send{Dst: 1, Size: 5 * full})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, OnPacket: func(e model.PacketEvent) {
		h, ok := leavesHost(f, e)
		if e.Kind == model.Arrived && e.Port == f.Downlink(0) {
			if h := flow.Parse(e.Packet.Header()); h.Offset == 5*full {
				acked[h.ID] = e.At
			}
		}
		if !ok || h.Kind != "DATA" {
			return
		}
		if _, ok := started[h.ID]; !ok {
			started[h.ID] = e.At
			if h.ID >= 40 {
				before := onConnection[h.Connection]
				if a, ok := acked[before]; !ok || e.At < a {
					t.Errorf("message %d begins at %v on connection %d, whose message %d is not acknowledged", h.ID,
						e.At, h.Connection, before)
				}
				if _, ok := started[h.ID-1]; !ok {
					t.Errorf("message %d begins before %d", h.ID, h.ID-1)
				}
			}
			onConnection[h.Connection] = h.ID
		} else if onConnection[h.Connection] != h.ID {
			t.Errorf("connection %d carries messages %d and %d", h.Connection, onConnection[h.Connection], h.ID)
		}
	}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	if len(onConnection) != 40 || len(started) != 60 {
		t.Errorf("%d connections for %d messages", len(onConnection), len(started))
	}
	if started[39] >= started[40] || started[39] > 5*us {
		t.Errorf("message 39 began at %v, 40 at %v", started[39], started[40])
	}
}

// A pool belongs to an ordered pair: another peer has its own.
func TestPoolsOfPeersAreSeparate(t *testing.T) {
	f := rack(t, 3)
	var sends []model.Send
	for range 3 {
		sends = append(sends, model.Send{Dst: 1, Size: 1_000_000}, model.Send{Dst: 2, Size: 1_000_000})
	}
	first := map[topo.HostID]map[transport.MessageID]units.Time{1: {}, 2: {}}
	sim := newSim(t, model.Config{Fabric: f, Params: config(66, func(c *flow.Config) { c.Connections = 1 }),
		Sends: sends,
		OnPacket: func(e model.PacketEvent) {
			if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
				if _, ok := first[e.Dst][h.ID]; !ok {
					first[e.Dst][h.ID] = e.At
				}
			}
		}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	for _, dst := range []topo.HostID{1, 2} {
		if first[dst][0] > us || first[dst][1] < 100*us || first[dst][2] < first[dst][1] {
			t.Errorf("to host %d: %v", dst, first[dst])
		}
	}
}

// ECMP per connection (README, Connections): all packets of a connection take
// one path in each direction, and a pool's connections between them use every
// path.
func TestEachConnectionKeepsItsPathAndThePoolUsesAll(t *testing.T) {
	s := modeltest.Small
	s.Spines = 4
	f := modeltest.Fabric(t, s)
	paths := map[[2]int]map[topo.NodeID]int{} // by source and connection
	spines := map[topo.NodeID]int{}
	var sends []model.Send
	for i := range 120 {
		sends = append(sends, model.Send{At: units.Time(i) * us, Dst: 2, Size: 20_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, OnPacket: func(e model.PacketEvent) {
		if e.Kind != model.Transmitted || !e.Port.Core || f.Nodes[e.Port.Node].Kind != topo.Leaf {
			return
		}
		key := [2]int{int(e.Src), int(flow.Parse(e.Packet.Header()).Connection)}
		if paths[key] == nil {
			paths[key] = map[topo.NodeID]int{}
			spines[e.Port.Peer]++
		}
		paths[key][e.Port.Peer]++
	}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	for key, used := range paths {
		if len(used) != 1 {
			t.Errorf("host %d, connection %d went over %d spines", key[0], key[1], len(used))
		}
	}
	if len(paths) != 80 || len(spines) != 4 {
		t.Errorf("%d connections over %d spines", len(paths), len(spines))
	}
	for spine, n := range spines {
		if n < 8 {
			t.Errorf("only %d of 80 connections over %s", n, f.Nodes[spine].Name)
		}
	}
}

// Connections share their host's link in turns.
func TestConnectionsTakeTurns(t *testing.T) {
	f := rack(t, 2)
	var last [3]units.Time
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 1e6}, {Dst: 1, Size: 1e6},
		{Dst: 1, Size: 1e6}}, OnPacket: func(e model.PacketEvent) {
		if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
			last[h.ID] = e.At
		}
	}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	for _, at := range last {
		if at < last[0]-us || at > last[0]+us {
			t.Errorf("last packets at %v: want all at the same time", last)
		}
	}
}

// A window of w segments allows w, and the next only when one is acknowledged.
func TestWindowBoundsWhatIsInFlight(t *testing.T) {
	for _, w := range []float64{0.3, 1, 1.9, 7, 66.7} {
		c := newCore(t, rack(t, 2), config(w, nil))
		c.Send(0, transport.Message{Peer: 1, Size: 100 * full})
		count := func(now units.Time) (n int) {
			for _, ok := c.next(now); ok; _, ok = c.next(now) {
				n++
			}
			return n
		}
		want := max(1, int(w))
		if got := count(0); got != want {
			t.Errorf("window %g: %d segments at once", w, got)
		}
		c.get(8*us, flow.Header{Kind: "ACK", Offset: full}, 0, false)
		if got := count(8 * us); got != 1 {
			t.Errorf("window %g: %d segments after an acknowledgement", w, got)
		}
	}
}

// Segments are at least the pacing gap apart, and exactly that when nothing
// else holds them back.
func TestPacingSpacesSegments(t *testing.T) {
	f := rack(t, 2)
	for _, gap := range []units.Time{500, 20 * us} {
		cfg := config(0, func(c *flow.Config) {
			c.Controller = func(transport.HostID) flow.Controller { return &fixed{window: 100, pacing: gap} }
		})
		var last units.Time = -1
		sim := newSim(t, model.Config{Fabric: f, Params: cfg, Sends: []model.Send{{Dst: 1, Size: 50 * full}},
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
					if last >= 0 && (e.At-last < gap-1 || e.At-last > gap+1) {
						t.Errorf("%v after the one before, want %v", e.At-last, gap)
					}
					last = e.At
				}
			}})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	}
}

// The least retransmission timeout is 200 us for DCTCP (README, Parameters),
// and doubles with each timeout in a row (RFC 6298). After MaxTimeouts of them
// the message fails, and the connection is free for the next.
func TestTimeoutsDoubleAndEndInFailure(t *testing.T) {
	f := rack(t, 2)
	var sent []units.Time
	sim := newSim(t, model.Config{
		Fabric: f, Params: config(1, func(c *flow.Config) { c.MaxTimeouts, c.Connections = 8, 1 }),
		Sends: []model.Send{{Dst: 1, Size: 100}, {Dst: 1, Size: 100}},
		OnPacket: func(e model.PacketEvent) {
			if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" && h.ID == 0 {
				sent = append(sent, e.At)
			}
		},
		Lose: func(e model.PacketEvent) bool {
			return e.Port == f.Downlink(1) && flow.Parse(e.Packet.Header()).ID == 0
		},
	})
	sim.RunUntilDone(units.Second)
	if len(sent) != 9 {
		t.Fatalf("sent at %v: want 9 times", sent)
	}
	gap := 200 * us
	for i := 1; i < len(sent); i++ {
		if got := sent[i] - sent[i-1]; got != gap {
			t.Errorf("%d. retransmission after %v, want %v", i, got, gap)
		}
		if gap < 64*200*us {
			gap *= 2
		}
	}
	m := sim.Messages()
	if m[0].Failed == units.Never || !strings.Contains(m[0].Reason, "9 retransmission timeouts") ||
		m[0].Failed-sent[8] != 64*200*us {
		t.Errorf("%+v", m[0])
	}
	if m[1].Delivered == units.Never || m[1].Delivered < m[0].Failed {
		t.Errorf("%+v", m[1])
	}
	sim.Run(sim.Now() + units.Second)
	for _, h := range f.Hosts {
		if err := at(sim, h).Idle(); err != nil {
			t.Errorf("%s: %v", f.HostName(h), err)
		}
	}
}

// RFC 6298, section 5: as soon as something is acknowledged, the timeout is
// again the one of the round trip.
func TestBackoffEndsWithAnAcknowledgement(t *testing.T) {
	c := newCore(t, rack(t, 2), config(1, nil))
	c.Send(0, transport.Message{Peer: 1, Size: 3 * full})
	now := units.Time(0)
	var h flow.Header
	for n := range 4 { // the first transmission, and three timeouts
		var ok bool
		if h, ok = c.next(now); !ok {
			t.Fatalf("transmission %d: nothing to send at %v", n, now)
		}
		if _, ok := c.next(now); ok {
			t.Fatal("more than a window")
		}
		if n < 3 {
			now = c.Wake()
		}
	}
	if now != 1400*us || c.Wake() != 3000*us {
		t.Errorf("at %v, next at %v: want 1.4ms, 3ms", now, c.Wake())
	}
	now += 8 * us
	c.get(now, flow.Header{Kind: "ACK", Offset: full, Stamp: h.Stamp}, 0, false)
	if h, ok := c.next(now); !ok || h.Offset != full {
		t.Fatalf("%+v, %v", h, ok)
	}
	if c.next(now); c.Wake() != now+200*us {
		t.Errorf("next timeout at %v, want %v", c.Wake(), now+200*us)
	}
	// The same without a transmission after the acknowledgement.
	c = newCore(t, rack(t, 2), config(2, nil))
	c.Send(0, transport.Message{Peer: 1, Size: 2 * full})
	for now = 0; now < units.Millisecond; now = c.Wake() {
		for _, ok := c.next(now); ok; _, ok = c.next(now) {
		}
	}
	c.next(now)
	h, _ = c.next(now)
	c.next(now)
	c.get(now+8*us, flow.Header{Kind: "ACK", Offset: full, Stamp: h.Stamp}, 0, false)
	if c.next(now + 8*us); c.Wake() != now+208*us {
		t.Errorf("next timeout at %v, want %v", c.Wake(), now+208*us)
	}
}

// A loss in the middle of a message is repaired within two round trips, without
// a timeout, and the controller is called once, however many segments are lost.
func TestLossesOfAWindowAreOneEvent(t *testing.T) {
	f := rack(t, 2)
	for lost := 1; lost <= 20; lost++ {
		c := &fixed{window: 40, keep: true}
		cfg := config(0,
			func(cfg *flow.Config) { cfg.Controller = func(transport.HostID) flow.Controller { return c } })
		sim := newSim(t, model.Config{Fabric: f, Params: cfg, Sends: []model.Send{{Dst: 1, Size: 200 * full}},
			Lose: func(e model.PacketEvent) bool {
				n := e.Packet.Offset / full
				return e.Port == f.Uplink(0) && e.At < 3*us && n > 0 && n <= units.Bytes(lost)
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		if len(c.losses) != 1 || len(c.timeouts) != 0 {
			t.Errorf("%d lost: told %d times, %d timeouts", lost, len(c.losses), len(c.timeouts))
		}
		if n := sim.Host(0).Counter("retransmissions"); n != int64(lost) {
			t.Errorf("%d lost: %d retransmissions", lost, n)
		}
		recovering := 0
		for _, a := range c.acks {
			if a.Recovering {
				recovering++
			}
		}
		if recovering == 0 || recovering > 60 {
			t.Errorf("%d lost: %d acknowledgements during recovery", lost, recovering)
		}
	}
}

// The delay that controllers see is the fabric's, to the nanosecond: over an
// empty network, a full packet's one-way time and its acknowledgement's.
func TestDelayIsTheFabricsRoundTrip(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	c := &fixed{window: 1, keep: true}
	// With delayed acknowledgements, what the receiver holds back is not counted.
	cfg := config(0, func(cfg *flow.Config) {
		cfg.DelayedAck, cfg.SegmentsPerAck = 6*us, 4
		cfg.Controller = func(transport.HostID) flow.Controller { return c }
	})
	sim := newSim(t, model.Config{Fabric: f, Params: cfg, Sends: []model.Send{{Dst: 3, Size: 10 * full}}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	want := f.Transit(f.Path(0, 3, 0), 1538) + f.Transit(f.Path(3, 0, 0), 89)
	for i, a := range c.acks {
		if a.Delay < want-2 || a.Delay > want+2 {
			t.Errorf("delay %v, want %v", a.Delay, want)
		}
		if i < 9 && (a.RTT < want+6*us-2 || a.RTT > want+6*us+2) {
			t.Errorf("round trip %v, want %v with holding", a.RTT, want+6*us)
		}
	}
	if len(c.acks) != 10 {
		t.Errorf("%d acknowledgements", len(c.acks))
	}
}
