package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A core is a protocol alone, at host 0 of a rack of two: tests hand it packets
// of host 1 and take what it sends.
type core struct {
	*xpass.XPass
	t    *testing.T
	sink *modeltest.Sink
}

func newCore(t *testing.T, change func(*xpass.Params)) core {
	t.Helper()
	f := rack(t, 2)
	env, sink := modeltest.Env(f, 0)
	x, err := xpass.New(env, params(f, change))
	if err != nil {
		t.Fatal(err)
	}
	return core{x, t, sink}
}

// get hands the core a packet.
func (c core) get(now units.Time, h xpass.Header, payload int) {
	p := transport.Packet{Peer: 1, PayloadLen: payload}
	h.Encode(&p)
	c.Receive(now, &p)
}

// sends checks which kinds of packets the core has to send, and returns the
// last one.
func (c core) sends(now units.Time, kinds ...string) (last xpass.Header) {
	c.t.Helper()
	var p transport.Packet
	for i := 0; c.Next(now, &p); i++ {
		last = xpass.Parse(p.Header())
		if i >= len(kinds) || last.Kind != kinds[i] {
			c.t.Fatalf("at %v: packet %d is %+v, want %q", now, i, last, kinds)
		}
		kinds[i] = ""
		p = transport.Packet{}
	}
	for _, k := range kinds {
		if k != "" {
			c.t.Fatalf("at %v: no %s", now, k)
		}
	}
	return last
}

func TestCreditsOfAnotherMessageOrCopiedBringNothing(t *testing.T) {
	c := newCore(t, func(p *xpass.Params) { p.Connections = 1 })
	c.Send(0, transport.Message{ID: 0, Peer: 1, Size: 8})
	c.Send(0, transport.Message{ID: 1, Peer: 1, Size: 5 * mss})
	c.sends(0, "CREDIT_REQUEST")
	c.get(5000, xpass.Header{Kind: "CREDIT", Seq: 1}, 0)
	c.sends(5000, "DATA", "CREDIT_STOP")
	c.get(9000, xpass.Header{Kind: "ACK"}, 0)
	c.sends(9000, "CREDIT_REQUEST")
	c.get(9500, xpass.Header{Kind: "CREDIT", Seq: 2}, 0) // late, for message 0
	c.sends(9500)
	c.get(14000, xpass.Header{Kind: "CREDIT", ID: 1, Seq: 4}, 0)
	c.get(14100, xpass.Header{Kind: "CREDIT", ID: 1, Seq: 4}, 0) // a copy
	c.get(14200, xpass.Header{Kind: "CREDIT", ID: 1, Seq: 3}, 0) // overtaken
	c.get(14300, xpass.Header{Kind: "CREDIT", ID: 1, Seq: 5}, 0)
	if h := c.sends(14300, "DATA", "DATA"); h.Seq != 5 || h.Offset != mss {
		t.Errorf("%+v", h)
	}
}

// Packets of a message before the connection's current one change nothing, and
// neither does a message that its sender gave up.
func TestPacketsOfOldMessagesAreIgnored(t *testing.T) {
	c := newCore(t, nil)
	c.get(0, xpass.Header{Kind: "CREDIT_REQUEST", ID: 5, Count: 3}, 0)
	c.sends(0, "CREDIT")
	c.get(100, xpass.Header{Kind: "CREDIT_STOP", ID: 5, Count: 3 * mss, Gone: true}, 0)
	c.sends(100)
	c.get(200, xpass.Header{Kind: "CREDIT_REQUEST", ID: 4, Count: 3}, 0)
	c.get(300, xpass.Header{Kind: "CREDIT_STOP", ID: 4, Count: 3 * mss}, 0)
	c.get(400, xpass.Header{Kind: "DATA", ID: 4, Seq: 1, Length: 100}, 100)
	c.sends(400)
	if c.sink.Deliveries != 0 || c.Wake() != units.Never {
		t.Errorf("%+v, wakes at %v", c.sink, c.Wake())
	}
	c.get(500, xpass.Header{Kind: "CREDIT_REQUEST", ID: 6, Count: 1}, 0)
	c.sends(500, "CREDIT")
}

// A receiver that still sends credits for a message that failed learns of it.
func TestCreditForAFailedMessageIsAnswered(t *testing.T) {
	c := newCore(t, func(p *xpass.Params) { p.MaxAttempts = 1 })
	c.Send(0, transport.Message{ID: 0, Peer: 1, Size: 8})
	c.sends(0, "CREDIT_REQUEST")
	c.sends(100*units.Microsecond, "CREDIT_REQUEST")
	c.sends(200*units.Microsecond, "CREDIT_STOP")
	c.get(300*units.Microsecond, xpass.Header{Kind: "CREDIT", Seq: 1}, 0)
	if h := c.sends(300*units.Microsecond, "CREDIT_STOP"); !h.Gone || c.sink.Failures != 1 {
		t.Errorf("%+v, %+v", h, c.sink)
	}
}

// A gap in the sequence of credits that overtaken data fills later was not a
// loss.
func TestOvertakenDataIsNoLoss(t *testing.T) {
	c := newCore(t, nil)
	c.get(0, xpass.Header{Kind: "CREDIT_REQUEST", Count: 1000}, 0)
	for now := units.Time(0); now < 10_000; now += 2100 {
		var p transport.Packet
		c.Next(now, &p)
	}
	c.get(10_000, xpass.Header{Kind: "DATA", Seq: 1, Length: 1000 * mss}, mss)
	c.get(10_000, xpass.Header{Kind: "DATA", Seq: 4, Length: 1000 * mss, Offset: 2 * mss}, mss)
	if total, lost := c.Loss(); total != 4 || lost != 2 {
		t.Fatalf("%d of %d lost", lost, total)
	}
	c.get(10_000, xpass.Header{Kind: "DATA", Seq: 2, Length: 1000 * mss, Offset: mss}, mss)
	c.get(10_000, xpass.Header{Kind: "DATA", Seq: 2, Length: 1000 * mss, Offset: mss}, mss)      // a copy
	c.get(10_000, xpass.Header{Kind: "DATA", Seq: 99, Length: 1000 * mss, Offset: 3 * mss}, mss) // never credited
	if total, lost := c.Loss(); total != 0 || lost != -1 {
		t.Errorf("%d more of %d lost", lost, total)
	}
	if total, lost := c.Known(1, 0); total != 4 || lost != 1 {
		t.Errorf("the control loop knows of %d, %d lost", total, lost)
	}
}

// A message whose credits are all lost waits, however long: its receiver answers
// that it knows the message.
func TestLostCreditsMakeNoMessageFail(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *xpass.Params) { p.MaxAttempts = 5 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 5000}},
		Lose: func(e model.PacketEvent) bool { return e.Packet.Credit && e.At < 10*units.Millisecond }})
	modeltest.AllDone(t, f, sim, 11*units.Millisecond)
}

// Stopping too early costs time, and nothing else.
func TestStoppingMuchTooEarlyMakesNoMessageFail(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *xpass.Params) { p.MaxAttempts, p.EarlyStop = 2, 1e-6 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 200 * mss}}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	if n := modeltest.Counted(f, sim, "credit_stops_early"); n < 5 {
		t.Errorf("stopped early %d times", n)
	}
}

// The last data packet lost, and CREDIT_STOP with it or not: the message is
// complete within a few round trips, not after a timeout of 100 us.
func TestLossOfTheLastPacketIsFoundSoon(t *testing.T) {
	f := rack(t, 2)
	var done [3]units.Time
	for stops := range done {
		left, last := stops-1, stops > 0
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 400 * mss}},
			Params: params(f, func(p *xpass.Params) { p.EarlyStop = 0 }),
			Lose: func(e model.PacketEvent) bool {
				h := xpass.Parse(e.Packet.Header())
				if h.Kind == "DATA" && h.Offset == 399*mss && last {
					last = false
					return true
				}
				if h.Kind == "CREDIT_STOP" && left > 0 && e.Port == f.Uplink(0) {
					left--
					return true
				}
				return false
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		done[stops] = sim.Messages()[0].Delivered
	}
	t.Logf("delivered at %v", done)
	if more := done[1] - done[0]; more <= 0 || more > 25*units.Microsecond {
		t.Errorf("the last packet lost: %v later", more)
	}
	if more := done[2] - done[0]; more <= 0 || more > 50*units.Microsecond {
		t.Errorf("the stop as well: %v later", more)
	}
}
