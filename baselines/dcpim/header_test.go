package dcpim

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: rts, id: 7, length: 1 << 31, tag: 1<<31 | 5, aboveFloor: 3},
	{kind: rtsAck, id: 1 << 31},
	{kind: request, id: 9, channels: 4, round: 1<<32 - 1, remaining: 700},
	{kind: grant, id: 9, channels: 3, round: 12, remaining: 700},
	{kind: accept, id: 9, channels: 2, round: 12},
	{kind: grantsr, id: 9, channels: 1, round: 12},
	{kind: token, id: 2, priority: 9, epoch: 15, seq: 1 << 30, offset: 1444},
	{kind: data, id: 2, free: true, seq: 3, offset: 4332, length: 10_000_000, tag: 8, aboveFloor: account.FloorUnknown},
	{kind: ack, id: 3},
	{kind: gone, id: 4},
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, want := range headers {
		var p transport.Packet
		want.encode(&p)
		var got header
		if err := got.decode(p.Header()); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
		if n, err := lengths.Len(p.Header()); err != nil || n != p.HeaderLen {
			t.Errorf("%+v: length %d (%v), want %d", want, n, err, p.HeaderLen)
		}
		if len(fields(p.Header())) < 2 {
			t.Errorf("%+v: few fields: %v", want, fields(p.Header()))
		}
	}
}

// Matching packets and tokens are Ethernet's smallest; the simulator's 40 bytes
// are its smallest too (README, Wire format).
func TestControlPacketsAreEthernetsSmallest(t *testing.T) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		if got := wire.WireLen(p.HeaderLen, 0); got > 84 && h.kind != rts && h.kind != data {
			t.Errorf("%s: %d bytes", kindNames[h.kind], got)
		}
	}
}

func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		f.Add(p.Header())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again header
		if h.decode(b) != nil {
			return
		}
		var p transport.Packet
		h.encode(&p)
		n, err := lengths.Len(b)
		if err != nil || n != p.HeaderLen {
			t.Fatalf("%x: length %d (%v), encoded %d", b, n, err, p.HeaderLen)
		}
		if again.decode(p.Header()) != nil || again != h {
			t.Fatalf("%x decoded as %+v, encoded and decoded as %+v", b, h, again)
		}
		fields(b[:n])
	})
}
