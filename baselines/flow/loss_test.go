package flow_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// subject is a windowed protocol, for the requirements on every protocol.
var subject = modeltest.Subject{
	Protocol: windowed, Seeds: 1000,
	Params: func(_ *topo.Fabric, r *rand.Rand) any {
		window, pacing := 1+66*r.Float64(), units.Time(0)
		if r.IntN(4) == 0 {
			window, pacing = 0.5, units.Time(1+r.IntN(20_000))
		}
		return config(0, func(c *flow.Config) {
			c.Controller = func(transport.HostID) flow.Controller { return &fixed{window: window, pacing: pacing} }
			c.Connections = []int{1, 2, 40}[r.IntN(3)]
			c.UplinkFIFO = r.IntN(3) == 0
			if c.SegmentsPerAck = 1 + r.IntN(3); r.IntN(2) == 0 {
				c.DelayedAck = 6 * us
			}
		})
	},
	Check: func(p transport.Transport) error {
		if broken := p.(*flow.Transport).Broken(); broken != "" {
			return errors.New(broken)
		}
		return nil
	},
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption, whatever the window, the pacing and the delay of
// acknowledgements; and in the end nothing is left over.
func TestExactlyOnceUnderFaults(t *testing.T) { modeltest.ExactlyOnceUnderFaults(t, subject) }

// FuzzReceive: no sequence of packets breaks the protocol's sums, and it goes
// on working. Each step is one packet or the passing of time.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{1, 0, 0, 0, 1, 1, 0, 0, 2, 3, 1, 0, 1, 1, 1, 250, 0, 7})
	top := rack(f, 2)
	f.Fuzz(func(t *testing.T, script []byte) {
		c := newCore(t, top, config(10, func(c *flow.Config) {
			c.Connections, c.MaxTimeouts, c.DelayedAck, c.SegmentsPerAck = 2, 3, 6*us, 2
		}))
		now := units.Time(0)
		take := func() byte {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return b
		}
		id := transport.MessageID(0)
		for len(script) > 0 {
			now += units.Time(take()) * 200
			h := flow.Header{
				Connection: take() & 3, ID: transport.MessageID(int8(take())), Offset: uint32(take()) * full,
				Stamp:  uint32(take()),
				Length: uint32(take()) * 700, AboveFloor: uint16(int8(take())), Echo: take()&1 != 0,
			}
			n := 0
			switch take() & 3 {
			case 0:
				h.Kind, n = "DATA", int(take())*6
				h.Echo = false
			case 1:
				h.Kind = "ACK"
				for range take() & 3 {
					h.Ranges = append(h.Ranges, [2]uint32{uint32(take()) * full, uint32(take()) * full})
				}
			case 2:
				c.Send(now, transport.Message{ID: id, Peer: 1, Size: units.Bytes(take()) * 500})
				id++
			case 3:
				var p transport.Packet
				p.Peer, p.HeaderLen = 1, copy(p.HeaderBytes[:], script)
				c.Receive(now, &p)
			}
			if h.Kind != "" {
				c.get(now, h, n, take()&1 != 0)
			}
			for range 30 {
				if _, ok := c.next(now); !ok {
					if c.Wake() <= now {
						t.Fatalf("nothing to send, but wakes at %v, now %v", c.Wake(), now)
					}
					break
				}
			}
			if broken := c.Broken(); broken != "" {
				t.Fatal(broken)
			}
		}
		// Unanswered, everything ends in time.
		for range 100_000 {
			if _, ok := c.next(now); !ok {
				if now = c.Wake(); now == units.Never {
					break
				}
			}
		}
		if c.sink.Acks+c.sink.Failures != int(id) {
			t.Fatalf("%d messages: %d acknowledged, %d failed", id, c.sink.Acks, c.sink.Failures)
		}
	})
}

// Whichever end is dead, the message fails, and neither end keeps any state of
// it.
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }

// No packet allocates anything once queues have grown: with windows, and with
// pacing.
func TestNoAllocationPerPacket(t *testing.T) {
	for _, c := range []fixed{{window: 50}, {window: 20, pacing: 700}} {
		s := subject
		s.Protocol.DefaultParams = func(*topo.Fabric) any {
			return config(0, func(cfg *flow.Config) {
				cfg.Controller = func(transport.HostID) flow.Controller {
					return &fixed{window: c.window, pacing: c.pacing}
				}
			})
		}
		modeltest.NoAllocationPerPacket(t, s)
	}
}
