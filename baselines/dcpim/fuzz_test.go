package dcpim_test

import (
	"encoding/binary"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// FuzzReceive feeds any sequence of packets to a host with messages of its own:
// it neither panics nor loses count, and stays within its k channels.
func FuzzReceive(f *testing.F) {
	step := func(peer, delay byte, h dcpim.Header, payload uint16) []byte {
		var p transport.Packet
		h.Encode(&p)
		b := []byte{peer, delay, byte(p.HeaderLen)}
		b = binary.BigEndian.AppendUint16(b, payload)
		return append(b, p.Header()...)
	}
	join := func(steps ...[]byte) (all []byte) {
		for _, s := range steps {
			all = append(all, s...)
		}
		return all
	}
	f.Add(join(
		step(1, 10, dcpim.Header{Kind: "RTS", Length: 500_000}, 0),
		step(1, 40, dcpim.Header{Kind: "GRANT", Channels: 4}, 0),
		step(1, 200, dcpim.Header{Kind: "DATA", Length: 500_000, Seq: 1, Offset: mss}, mss),
		step(1, 200, dcpim.Header{Kind: "GRANTSR", Channels: 2}, 0),
	))
	f.Add(join(
		step(2, 10, dcpim.Header{Kind: "REQUEST", Channels: 4}, 0),
		step(2, 80, dcpim.Header{Kind: "ACCEPT", Channels: 4}, 0),
		step(1, 1, dcpim.Header{Kind: "ACCEPT", Channels: 200}, 0),
		step(2, 200, dcpim.Header{Kind: "TOKEN", Priority: 2, Seq: 5, Offset: 10 * mss}, 0),
		step(2, 200, dcpim.Header{Kind: "ACK"}, 0),
	))
	f.Add(join(
		step(1, 0, dcpim.Header{Kind: "DATA", ID: 1 << 31, Length: 10, Unscheduled: true}, 10),
		step(1, 0, dcpim.Header{Kind: "DATA", ID: 1, Length: 10, Unscheduled: true, AboveFloor: 1}, 10),
		step(1, 0, dcpim.Header{Kind: "GONE", ID: 1}, 0),
	))
	f.Fuzz(func(t *testing.T, b []byte) {
		fabric := rack(t, 4)
		c := newCore(t, fabric)
		now := units.Time(0)
		for id := range transport.MessageID(2) {
			for h := topo.HostID(1); h < 4; h++ {
				c.Send(now, transport.Message{ID: id, Peer: h, Size: 1 + 400_000*units.Bytes(id)})
			}
		}
		for steps := 0; len(b) >= 5 && steps < 200; steps++ {
			p := transport.Packet{Peer: topo.HostID(b[0] & 7), PayloadLen: int(binary.BigEndian.Uint16(b[3:]))}
			now += units.Time(b[1]) * 100
			p.HeaderLen = copy(p.HeaderBytes[:min(int(b[2]), transport.MaxHeader)], b[5:])
			b = b[5+p.HeaderLen:]
			c.Receive(now, &p)
			for n := 0; c.Next(now, &p); n++ {
				if p = (transport.Packet{}); n > 100_000 {
					t.Fatalf("still sending at %v", now)
				}
			}
			if broken := c.Broken(); broken != "" {
				t.Fatal(broken)
			}
			if c.Wake() < now {
				t.Fatalf("wakes at %v, now %v, with nothing to send", c.Wake(), now)
			}
		}
	})
}
