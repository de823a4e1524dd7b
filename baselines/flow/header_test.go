package flow

import (
	"bytes"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: data, connection: 39, id: 7, offset: 1443 * 5, stamp: 1 << 31, length: 10_000_000, tag: 1<<31 | 5, aboveFloor: 3},
	{kind: data, connection: 255, id: 1<<32 - 1, offset: 1<<32 - 2, stamp: 1<<32 - 1, length: 1<<32 - 1, aboveFloor: account.FloorUnknown},
	{kind: ack, echo: true, id: 9, offset: 8, stamp: 77, held: 6000},
	{kind: ack, connection: 1, id: 9, offset: 1443, ranges: [maxRanges]extent{{2886, 4329}, {5772, 7215}, {1 << 30, 1 << 31}}, n: 3},
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, want := range headers {
		var p transport.Packet
		want.encode(&p)
		var got header
		if err := got.decode(p.Header()); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
		if len(Fields(p.Header())) < 6 {
			t.Errorf("%v: few fields: %v", want, Fields(p.Header()))
		}
	}
}

// An acknowledgement in order takes hardly more than Ethernet's smallest
// packet.
func TestAcknowledgementInOrderIsSmall(t *testing.T) {
	if got := wire.WireLen(ackLen, 0); got != 89 {
		t.Errorf("%d wire bytes", got)
	}
	if ackLen+maxRanges*rangeLen > transport.MaxHeader {
		t.Error("the longest acknowledgement does not fit a packet's header")
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
		n, err := HeaderLen(b)
		if err != nil || !bytes.Equal(p.Header(), b[:n]) {
			t.Fatalf("%x decoded as %+v, encoded as %x", b, h, p.Header())
		}
		Fields(b[:n])
	})
}
