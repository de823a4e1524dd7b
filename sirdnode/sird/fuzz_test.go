package sird_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A fuzzed run is a sequence of steps of 42 bytes: what to do, from or to whom,
// how much later, a length, and a header.
const stepLen = 42

// step encodes a step.
func step(what, peer byte, later uint16, n uint32, h sird.Header) []byte {
	var p transport.Packet
	h.Encode(&p)
	b := make([]byte, stepLen)
	b[0], b[1] = what, peer
	binary.BigEndian.PutUint16(b[2:], later)
	binary.BigEndian.PutUint32(b[4:], n)
	copy(b[8:], p.Header())
	return b
}

func steps(s ...[]byte) (b []byte) {
	for _, x := range s {
		b = append(b, x...)
	}
	return b
}

// hostile feeds the protocol a sequence of steps, and checks after each of them that
// sums add up and that it did not take long.
func hostile(t *testing.T, f *topo.Fabric, b []byte) {
	p := params(f, func(p *sird.Params) { p.LossTimeout = 20 * units.Microsecond })
	s := newCore(t, f, 0, p)
	limit := units.Bytes(float64(p.B) * float64(p.BDP))
	var now units.Time
	var ids [4]transport.MessageID
	received, sent, noted := 0, 0, 0
	for len(b) >= stepLen {
		peer := topo.HostID(b[1] & 3)
		later, n := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint32(b[4:])
		began := time.Now()
		now += units.Time(later)
		switch b[0] % 8 {
		case 0: // a message to send
			if peer != 0 {
				s.Send(now, transport.Message{ID: ids[peer], Peer: peer, Size: units.Bytes(n)})
				ids[peer]++
			}
		case 1, 2: // time to transmit
			var out transport.Packet
			for range n % 64 {
				if !s.Next(now, &out) {
					break
				}
				sent++
				if out.Peer == 0 || out.Peer > 3 || sird.Parse(out.Header()).Kind == "?" || out.PayloadLen < 0 ||
					out.PayloadLen > mss {
					t.Fatalf("sends %+v", out)
				}
				out = transport.Packet{}
			}
		default: // a packet
			in := transport.Packet{Peer: peer, HeaderLen: 34, CE: b[0]&64 != 0, PayloadLen: int(n % 1473)}
			copy(in.HeaderBytes[:], b[8:])
			s.Receive(now, &in)
			received++
		}
		b = b[stepLen:]
		if broken := s.Broken(); broken != "" {
			t.Fatal(broken)
		}
		// Each RESEND may exceed B by a packet.
		if credit := s.Used() - s.Charged(); credit > limit+units.Bytes(received)*frame ||
			s.Charged() > units.Bytes(received)*(p.BDP+frame) {
			t.Fatalf("%d of credit out, %d charged after %d packets", credit, s.Charged(), received)
		}
		if noted = s.ControlQueue(); noted > 3*(received+sent+20)+1000 {
			t.Fatalf("%d control packets wait after %d packets", noted, received)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Fatalf("a step took %v", took)
		}
	}
}

// A header is any 34 bytes: whatever is in them, nothing breaks, no sum goes wrong
// and no packet makes much work. No field is trusted.
func FuzzReceive(f *testing.F) {
	fab := rack(f, 4)
	request := sird.Header{Kind: "DATA", Request: true, Length: 1 << 31}
	f.Add(steps(
		step(0, 1, 0, 500_000, request), step(1, 0, 10, 9, request),
		step(3, 1, 10, 0, sird.Header{Kind: "CREDIT", Credit: 90_000}), step(1, 0, 10, 40, request),
		step(3, 1, 10, 0, sird.Header{Kind: "RESEND", Credit: 95_000, Offset: 2884, Length: 1442}),
		step(1, 0, 10, 40, request),
		step(3, 1, 10, 0, sird.Header{Kind: "ACK"}),
		step(0, 1, 0, 80, request), step(1, 0, 10, 40, request),
		step(3, 1, 10, 80, sird.Header{Kind: "DATA", Length: 80, Prefix: 1, Rides: true, Acked: 1, Below: 1}),
	))
	// A message of 4 GB.
	f.Add(steps(
		step(3, 1, 0, 0, sird.Header{Kind: "DATA", Request: true, Length: 1<<32 - 1}), step(1, 0, 10, 60, request),
		step(3, 1, 0, mss, sird.Header{Kind: "DATA", Scheduled: true, Credit: 1538, Length: 1<<32 - 1,
			Offset: 1442 * 1000}), step(1, 0, 50_000, 60, request),
	))
	// A prefix of 94 MB.
	f.Add(steps(step(3, 2, 0, mss, sird.Header{Kind: "DATA", Length: 1<<32 - 1, Prefix: 65535}),
		step(1, 0, 50_000, 60, request), step(1, 0, 50_000, 60, request)))
	// Delivered with an id of two billion, then all below a higher id are settled.
	f.Add(steps(
		step(3, 2, 0, 8, sird.Header{Kind: "DATA", ID: 2_000_000_000, Length: 8, Prefix: 1, AboveFloor: 0xffff}),
		step(3, 2, 0, 8, sird.Header{Kind: "DATA", ID: 2_000_000_100, Length: 8, Prefix: 1}),
	))
	// Ranges that overlap.
	f.Add(steps(
		step(3, 2, 0, 1000, sird.Header{Kind: "DATA", Length: 5000, Prefix: 4, Offset: 500}),
		step(3, 2, 0, 1000, sird.Header{Kind: "DATA", Length: 5000, Prefix: 4, Offset: 0}),
		step(3, 2, 0, 1442, sird.Header{Kind: "DATA", Length: 5000, Prefix: 4, Offset: 1442}),
	))
	// Credit out of nowhere, of past and future epochs.
	f.Add(steps(
		step(0, 1, 0, 5_000_000, request), step(3, 1, 0, 0, sird.Header{Kind: "CREDIT", Credit: 1 << 30, Epoch: 3}),
		step(1, 0, 0, 60, request),
		step(3, 1, 0, 0, sird.Header{Kind: "CREDIT", Credit: 1 << 31, Epoch: 9}),
		step(3, 1, 0, 0, sird.Header{Kind: "ACK", Credit: 5, Epoch: 2}),
		step(3, 1, 0, 0, sird.Header{Kind: "BUSY", Gone: true, Credit: 77}),
		step(3, 1, 0, 0, sird.Header{Kind: "BUSY", Request: true, Credit: 77, Epoch: 15}),
	))
	f.Fuzz(func(t *testing.T, b []byte) { hostile(t, fab, b[:min(len(b), 100*stepLen)]) })
}

// Bytes that arrive twice count once, however a header cuts them.
func TestOverlappingRangesCountOnce(t *testing.T) {
	s := newCore(t, rack(t, 2), 1, params(rack(t, 2), nil))
	for _, c := range []struct {
		offset uint32
		n      int
	}{{500, 1000}, {0, 1000}, {0, mss}, {100, mss}, {mss, mss}, {2 * mss, mss - 1}, {2 * mss, mss}, {3 * mss, 674},
		{3 * mss, mss}, {mss, mss}} {
		s.get(0, 0, sird.Header{Kind: "DATA", Length: 3*mss + 674, Prefix: 4, Offset: c.offset}, c.n, false)
	}
	if s.sink.Bytes != 3*mss+674 || s.sink.Deliveries != 1 {
		t.Errorf("%d bytes of %d, %d deliveries", s.sink.Bytes, 3*mss+674, s.sink.Deliveries)
	}
}

// The same with headers that make more sense: real ones of a conversation with
// some fields replaced.
func TestMutatedHeadersBreakNothing(t *testing.T) {
	f := rack(t, 4)
	kinds := []string{"DATA", "DATA", "CREDIT", "RESEND", "ACK", "BUSY"}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		odd := func(n uint32) uint32 {
			switch r.IntN(12) {
			case 0:
				return r.Uint32()
			case 1:
				return 1 << r.IntN(32)
			case 2:
				return 1<<32 - 1
			}
			return r.Uint32N(n)
		}
		var b []byte
		for range 200 {
			h := sird.Header{
				Kind: kinds[r.IntN(len(kinds))], CSN: r.IntN(2) > 0, Scheduled: r.IntN(2) > 0, Request: r.IntN(4) == 0,
				Gone:  r.IntN(8) == 0,
				Epoch: uint8(max(0, r.IntN(20)-10)), ID: transport.MessageID(odd(4)), Credit: odd(200_000),
				Offset: odd(40) * mss, Length: 50_000 + odd(2),
				AboveFloor: uint16(odd(3)), Prefix: uint16(odd(36)),
				Rides: r.IntN(4) == 0, Acked: transport.MessageID(odd(4)), Below: odd(8),
			}
			if r.IntN(10) == 0 {
				h.Length, h.Offset = odd(100_000), odd(100_000)
			}
			n := odd(2) * mss
			what := byte(r.IntN(256))
			if what%8 < 3 {
				n = odd(100_000)
			}
			b = append(b, step(what, byte(r.IntN(4)), uint16(r.IntN(2000)*r.IntN(30)), n, h)...)
		}
		hostile(t, f, b)
	}
}
