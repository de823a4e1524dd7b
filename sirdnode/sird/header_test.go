package sird

import (
	"bytes"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: data, flags: csn | scheduled, epoch: 15, id: 7, credit: 1 << 31, offset: 8942, length: 10_000_000,
		tag: 1<<31 | 5, aboveFloor: 3, prefix: 24},
	{kind: data, flags: request, id: 1, length: 1 << 30},
	{kind: credit, epoch: 1, id: 9, credit: 0xffffffff, offset: 17},
	{kind: resend, id: 2, credit: 5, offset: 100, length: 200},
	{kind: ack, id: 3},
	{kind: busy, flags: gone, id: 4},
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, want := range headers {
		var p transport.Packet
		want.encode(&p)
		var got header
		if err := got.decode(p.Header()); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
		if len(fields(p.Header())) < 5 {
			t.Errorf("%v: few fields: %v", want, fields(p.Header()))
		}
	}
}

// README, Byte accounting: a CREDIT is 84 bytes on the wire.
func TestCreditIsEthernetsSmallestPacket(t *testing.T) {
	if got := wire.WireLen(baseLen, 0); got != 84 {
		t.Errorf("%d", got)
	}
}

func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		f.Add(p.Header())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h header
		if h.decode(b) != nil {
			return
		}
		var p transport.Packet
		h.encode(&p)
		n, err := lengths.Len(b)
		if err != nil || !bytes.Equal(p.Header(), b[:n]) {
			t.Fatalf("%x decoded as %+v, encoded as %x", b, h, p.Header())
		}
		fields(b[:n])
	})
}
