package homa_test

import (
	"encoding/binary"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// No allocation per packet in steady state: two hosts send each other short and
// long messages without an engine between them.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *homa.Params) { p.Workload = "wka" })
	ends := [2]core{newCore(t, f, 0, p), newCore(t, f, 1, p)}
	sizes := [...]units.Bytes{8, 300, 3000, 20_000, 250_000, 1, 1446}
	var pkt transport.Packet
	var next [2]transport.MessageID
	now, packets := units.Time(0), 0
	round := func() {
		for range 50 {
			for i := range ends {
				ends[i].Send(now, transport.Message{ID: next[i], Peer: topo.HostID(1 - i),
					Size: sizes[int(next[i])%len(sizes)]})
				next[i]++
			}
			for idle := 0; idle < 2; {
				idle = 0
				now += 124
				for i := range ends {
					pkt = transport.Packet{}
					if !ends[i].Next(now, &pkt) {
						if ends[i].Wake() > now+units.Millisecond/2 {
							idle++
						}
						continue
					}
					pkt.Peer = topo.HostID(i)
					ends[1-i].Receive(now, &pkt)
					packets++
				}
			}
		}
	}
	round()
	round()
	packets = 0
	if n := testing.AllocsPerRun(20, round); n > 0 {
		t.Errorf("%v allocations a round of %d packets", n, packets/21)
	}
	for _, e := range ends {
		if e.sink.Deliveries != int(next[0]) || e.sink.Acks != int(next[0]) || e.Leaks() != "" {
			t.Errorf("%+v of %d: %s", *e.sink, next[0], e.Leaks())
		}
	}
	t.Logf("%d packets a round", packets/21)
}

// No packet, whatever it claims, may break a host's sums, stop it, or make it
// send more than was requested.
func FuzzReceive(f *testing.F) {
	for _, kinds := range [][]byte{{1, 2, 3}, {1, 1, 7, 4, 5}, {2, 3, 6, 0x81, 5, 7}} {
		var b []byte
		for i, k := range kinds {
			b = append(b, k, byte(i), 0, byte(i*17), byte(i), 3, 200, 1)
		}
		f.Add(b)
	}
	fab := rack(f, 4)
	p := params(fab, func(p *homa.Params) { p.RTTBytes = 10_000 })
	f.Fuzz(func(t *testing.T, b []byte) {
		h := newCore(t, fab, 0, p)
		for i, size := range []units.Bytes{8, 5000, 100_000} {
			h.Send(0, transport.Message{ID: transport.MessageID(i), Peer: topo.HostID(1 + i%2), Size: size})
		}
		for i := range 10 {
			h.next(units.Time(i))
		}
		now := units.Time(100)
		for ; len(b) >= 8; b = b[8:] {
			now += units.Time(b[7]) * 10_000
			size := uint32(1) << (b[5] & 31)
			hd := homa.Header{
				Kind:       []string{"DATA", "GRANT", "RESEND", "BUSY", "ACK", "NEED_ACK", "UNKNOWN"}[b[0]%7],
				FromSender: b[0]&0x80 != 0, Priority: b[1] & 7,
				ID: transport.MessageID(b[2] & 3), Offset: uint32(binary.BigEndian.Uint16(b[3:5])), Length: size,
				AboveFloor: uint16(b[6] & 3), Unscheduled: uint16(b[6]),
			}
			if b[1]&8 != 0 { // where a packet begins
				hd.Offset = hd.Offset % 64 * mss
			}
			payload := int(b[6]) * 8
			if b[1]&16 != 0 && hd.Offset < size {
				payload = int(min(mss, size-hd.Offset))
			}
			h.get(now, topo.HostID(b[1]>>5&3), hd, payload)
			for range b[7] & 7 {
				h.next(now)
			}
			if s := h.Broken(); s != "" {
				t.Fatalf("after %+v: %s", hd, s)
			}
		}
		// A message whose receiver was busy is given up after six timeouts of 160 ms.
		for range 400 {
			now += 5 * units.Millisecond
			for n := 0; ; n++ {
				if _, _, ok := h.next(now); !ok {
					break
				}
				if n > 10_000 {
					t.Fatal("it sends without end")
				}
			}
		}
		if s := h.Leaks(); s != "" {
			t.Fatal(s)
		}
	})
}

// No packet allocates anything once queues and pools have grown.
func TestNoAllocationPerPacket(t *testing.T) { modeltest.NoAllocationPerPacket(t, subject) }
