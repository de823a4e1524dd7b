package model

import (
	"bytes"
	"encoding/binary"
	"testing"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// busy is a run with everything that draws random numbers: sprayed packets,
// marks, drops, faults.
func busy(t *testing.T, seed uint64, withBytes bool) (*Sim, []byte) {
	t.Helper()
	f := paperFabric(t, func(s *topo.Spec) { s.Leaves, s.HostsPerLeaf, s.Spines = 2, 3, 2 })
	sends := mesh(f, 100, 20000)
	for src := topo.HostID(1); src < 6; src++ { // an incast, for drops
		sends = append(sends, Send{Src: src, Dst: 0, Size: 200000})
	}
	s := newSim(t, Config{
		Fabric: f, Seed: seed, Bytes: withBytes, QueueLimit: 20000, Sends: sends,
		Network: &transport.Network{Priorities: 8, MarkCore: 3000, MarkEdge: 10000},
		Params: &fakeParams{Acks: true, Tune: func(n int, p *transport.Packet) {
			p.Entropy, p.Priority = uint16(n*n), uint8(n%8)
		}},
		Faults:     fault.Config{Drop: 0.01, Duplicate: 0.02, Reorder: 0.05, ReorderDelay: 20 * units.Microsecond},
		GaugeEvery: 10 * units.Microsecond,
	})
	s.Run(3 * units.Millisecond)
	s.Drain()
	conserved(t, s)
	var logs []byte
	for h := range f.Hosts {
		if err := s.Host(topo.HostID(h)).Finish(s.Now()); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, s.Log(topo.HostID(h))...)
	}
	return s, logs
}

func TestSameSeedSameBits(t *testing.T) {
	first, logs := busy(t, 7, false)
	again, same := busy(t, 7, false)
	if !bytes.Equal(logs, same) || first.Totals() != again.Totals() {
		t.Error("the same seed gives another run")
	}
	if _, other := busy(t, 8, false); bytes.Equal(logs, other) {
		t.Error("another seed gives the same run")
	}
	if c := first.Totals(); c.PortStats.Drops == 0 || c.PortStats.Marks == 0 || c.HostStats.Faults == 0 ||
		c.HostStats.Extra == 0 || c.Delivered == 0 {
		t.Errorf("got %+v, want some of drops, marks, faults and deliveries", c)
	}
}

// Frames that are really encoded, decoded and checked change nothing that is
// measured.
func TestBytesChangeNothing(t *testing.T) {
	lengths, logs := busy(t, 7, false)
	frames, same := busy(t, 7, true)
	if !bytes.Equal(logs, same) || lengths.Totals() != frames.Totals() || frames.Totals().Mismatches != 0 {
		t.Errorf("with lengths %+v\nwith bytes %+v", lengths.Totals(), frames.Totals())
	}
}

// Every corrupted frame is refused by its checksum: none reaches a transport.
func TestCorruptionIsFound(t *testing.T) {
	f := paperFabric(t, rack(3))
	s := newSim(t, Config{Fabric: f, Seed: 3, Sends: mesh(f, 200, 30000),
		Faults: fault.Config{Corrupt: 0.1, Duplicate: 0.1}})
	s.Run(10 * units.Millisecond)
	s.Drain()
	conserved(t, s)
	c := s.Totals()
	if share := float64(c.HostStats.Corrupt) / float64(c.HostStats.Received); share < 0.1 || share > 0.12 {
		t.Errorf("%.3f refused, want what was corrupted: %+v", share, c.HostStats)
	}
	if c.Mismatches != 0 || c.HostStats.Foreign != 0 {
		t.Errorf("%d wrong payloads, %d foreign; want none", c.Mismatches, c.HostStats.Foreign)
	}
}

// Reordering delays packets and loses none.
func TestReorderingLosesNothing(t *testing.T) {
	f := paperFabric(t, rack(3))
	var late int
	got := map[topo.HostID]units.Bytes{}
	s := newSim(t, Config{
		Fabric: f, Seed: 3, Sends: []Send{{Src: 0, Dst: 1, Size: 1 << 20}}, Faults: fault.Config{Reorder: 0.2},
		Params: &fakeParams{Got: func(_ transport.Time, p *transport.Packet) {
			offset := units.Bytes(binary.BigEndian.Uint32(p.Header()[9:]))
			if offset < got[p.Peer] {
				late++
			}
			got[p.Peer] = max(got[p.Peer], offset)
		}},
	})
	s.Run(10 * units.Millisecond)
	conserved(t, s)
	if m := s.Messages(); len(m) != 1 || m[0].Delivered == units.Never || late < 100 {
		t.Errorf("got %+v, %d packets late; want one message delivered, and 100 or more late", m, late)
	}
}

// What a test asks to be lost is lost, there and only there.
func TestLose(t *testing.T) {
	f := paperFabric(t)
	n := 0
	s := newSim(t, Config{Fabric: f, Sends: []Send{{Dst: 20, Size: 14480}}, Lose: func(e PacketEvent) bool {
		if e.Port != f.Downlink(20) {
			return false
		}
		n++
		return n == 4
	}})
	s.Run(units.Millisecond)
	conserved(t, s)
	if got := s.Port(f.Downlink(20).ID); got.Lost != 1 || got.Packets != 9 || s.Host(20).Counts().Payload != 9*1448 {
		t.Errorf("got %+v, %d bytes; want one packet lost, and the bytes of 9", got, s.Host(20).Counts().Payload)
	}
}

// Messages tell what became of each message, replies included, and RunUntilDone
// stops when the last one is known to be delivered.
func TestMessages(t *testing.T) {
	f := paperFabric(t)
	s := newSim(t, Config{Fabric: f, Params: &fakeParams{Acks: true}, Sends: []Send{
		{At: 5000, Src: 1, Dst: 2, Size: 1000},
		{At: 1000, Src: 0, Dst: 143, Size: 5000, Reply: 8},
	}})
	if !s.RunUntilDone(units.Second) {
		t.Fatal("never done")
	}
	m := s.Messages()
	if len(m) != 3 || m[0].Src != 0 || m[0].Size != 5000 || m[1].Src != 1 || m[2].Src != 143 || !m[2].Tag.IsReply() {
		t.Fatalf("got %+v, want a request, another message and a reply", m)
	}
	for _, m := range m {
		if m.Delivered == units.Never || m.Acked <= m.Delivered || m.Failed != units.Never {
			t.Errorf("got %+v, want it delivered, then acknowledged", m)
		}
	}
	if s.Now() != m[2].Acked {
		t.Errorf("done at %v, last acknowledged at %v", s.Now(), m[2].Acked)
	}
	s.Offer(3, 4, 77)
	if !s.RunUntilDone(units.Second) || len(s.Messages()) != 4 {
		t.Errorf("the message offered in between is not done: %+v", s.Messages())
	}
}

func TestGauges(t *testing.T) {
	f := paperFabric(t, rack(2))
	s := newSim(t, Config{Fabric: f, GaugeEvery: 10 * units.Microsecond, Sends: []Send{{Dst: 1, Size: 1448000}}})
	s.Run(100 * units.Microsecond)
	list := s.Gauges(1)["payload_received"]
	if len(list) != 11 || list[1].At != 10*units.Microsecond || list[1].Value < 0.9*1448*(10-2.7)/.12304 ||
		list[1].Value > 1448*(10-2.5)/.12304 {
		t.Errorf("got %+v, want one each 10 us, the second with what 7.5 us of the link carry", list)
	}
}

// Errors of streams, parameters and faults come out of New.
func TestConfigErrors(t *testing.T) {
	f := paperFabric(t)
	for name, c := range map[string]Config{
		"no fabric": {Protocol: fakeProtocol},
		"sends":     {Fabric: f, Protocol: fakeProtocol, Sends: []Send{{Src: 0, Dst: 144, Size: 1}}},
		"size":      {Fabric: f, Protocol: fakeProtocol, Sends: []Send{{Src: 0, Dst: 1}}},
		"faults":    {Fabric: f, Protocol: fakeProtocol, Faults: fault.Config{Drop: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(c); err == nil {
				t.Errorf("no error")
			}
		})
	}
}
