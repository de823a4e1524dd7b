package flow_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// seeds is how many random runs the loss tests make. SIRDBED_SEEDS sets it for
// a longer search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIRDBED_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 1000
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption, whatever the window, the pacing and the delay of
// acknowledgements; and in the end nothing is left over (design.md section 5).
func TestExactlyOnceUnderFaults(t *testing.T) {
	f := fabric(t, small)
	for seed := range seeds() {
		if err := faultyRun(f, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	window, pacing := 1+66*r.Float64(), units.Time(0)
	if r.IntN(4) == 0 {
		window, pacing = 0.5, units.Time(1+r.IntN(20_000))
	}
	cfg := config(0, func(c *flow.Config) {
		c.Controller = func(transport.HostID) flow.Controller { return &fixed{window: window, pacing: pacing} }
		c.Connections = []int{1, 2, 40}[r.IntN(3)]
		if c.SegmentsPerAck = 1 + r.IntN(3); r.IntN(2) == 0 {
			c.DelayedAck = 6 * us
		}
	})
	sizes := []int{8, full - 1, full, full + 1, 50_000, 150_000, 400_000}
	var sends []model.Send
	want := int64(0)
	for range 4 + r.IntN(8) {
		src := topo.HostID(r.IntN(4))
		s := model.Send{
			At: units.Time(r.IntN(200_000)), Src: src, Dst: (src + 1 + topo.HostID(r.IntN(3))) % 4,
			Size: units.Bytes(1 + r.IntN(sizes[r.IntN(len(sizes))])),
		}
		if r.IntN(3) == 0 {
			s.Reply = 8
		}
		want += int64(s.Size + s.Reply)
		sends = append(sends, s)
	}
	sim, err := model.New(model.Config{
		Fabric: f, Protocol: windowed, Params: cfg, Seed: seed, Sends: sends, Bytes: true,
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %+v", sim.Messages())
	}
	sim.Run(sim.Now() + 10*units.Millisecond) // late duplicates and their answers
	total := sim.Totals()
	if total.Delivered != total.Offered || total.Acked != total.Offered || total.Mismatches != 0 || total.Payload != want {
		return fmt.Errorf("want %d bytes: %+v", want, total.Counts)
	}
	for _, h := range f.Hosts {
		p := sim.Host(h).Transport().(*flow.Transport)
		if err := p.Idle(); err != nil {
			return fmt.Errorf("%s: %v", f.HostName(h), err)
		}
		if broken := p.Broken(); broken != "" {
			return fmt.Errorf("%s: %s", f.HostName(h), broken)
		}
	}
	return nil
}

// No packet allocates anything once queues have grown: with long messages, with
// losses and retransmissions, and with pacing.
func TestNoAllocationsPerPacket(t *testing.T) {
	f := rack(t, 3)
	for name, c := range map[string]*fixed{"window": {window: 50}, "paced": {window: 20, pacing: 700}} {
		for _, drop := range []float64{0, 0.01} {
			cfg := config(0, func(cfg *flow.Config) {
				cfg.Controller = func(transport.HostID) flow.Controller { return &fixed{window: c.window, pacing: c.pacing} }
			})
			sim := newSim(t, model.Config{Fabric: f, Params: cfg, Faults: fault.Config{Drop: drop}, Sends: []model.Send{
				{Src: 0, Dst: 2, Size: 1 << 30}, {Src: 1, Dst: 2, Size: 1 << 30}, {Src: 2, Dst: 0, Size: 1 << 30},
			}})
			sim.Run(2 * units.Millisecond)
			before := sim.Totals().Received
			allocs := testing.AllocsPerRun(10, func() { sim.Run(sim.Now() + 100*us) })
			packets := float64(sim.Totals().Received-before) / 11
			if allocs > packets/1000 {
				t.Errorf("%s, loss %g: %v allocations in %v packets", name, drop, allocs, packets)
			}
		}
	}
}

// FuzzReceive: no sequence of packets breaks the protocol's sums, and it goes on
// working. Each step is one packet or a pass of time.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{1, 0, 0, 0, 1, 1, 0, 0, 2, 3, 1, 0, 1, 1, 1, 250, 0, 7})
	top := rack(f, 2)
	f.Fuzz(func(t *testing.T, script []byte) {
		c := newCore(t, top, config(10, func(c *flow.Config) { c.Connections, c.MaxTimeouts, c.DelayedAck, c.SegmentsPerAck = 2, 3, 6*us, 2 }))
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
				Connection: take() & 3, ID: transport.MessageID(int8(take())), Offset: uint32(take()) * full, Stamp: uint32(take()),
				Length: uint32(take()) * 700, Behind: uint16(int8(take())), Echo: take()&1 != 0,
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
		if c.sink.acked+c.sink.failed != int(id) {
			t.Fatalf("%d messages: %d acknowledged, %d failed", id, c.sink.acked, c.sink.failed)
		}
	})
}
