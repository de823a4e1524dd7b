package xpass

import (
	"bytes"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: request, conn: 39, id: 1 << 31, count: 6935},
	{kind: credit, pad: 8, conn: 3, id: 0xffff, seq: 1 << 31, time: 0xffffffff},
	{kind: credit, seq: 1},
	{kind: credit, pad: maxPad, seq: 1},
	{kind: data, conn: 2, id: 7, seq: 9, time: 10, length: 10_000_000, tag: 1<<31 | 5, offset: 8942,
		aboveFloor: 0xffff},
	{kind: stop, id: 5, count: 1 << 31},
	{kind: stop, id: 5, gone: true},
	{kind: nack, id: 6, offset: 1438, length: 2876},
	{kind: ack, conn: 1, id: 8},
	{kind: busy, id: 9},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: headerLen, Table: &table,
	// Neither the padding's bytes nor all of the second one are read.
	Equal: func(h header, a, b []byte) bool {
		from, to := 2, len(a)-int(h.pad)
		return bytes.Equal(a[from:to], b[from:to])
	},
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

// Credits take 84 bytes on the wire, Ethernet's minimum, plus their padding;
// requests and stops take 84 (README, Wire format).
func TestControlPacketsAreEthernetsSmallest(t *testing.T) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		want := transport.Bytes(84 + int(h.pad))
		if got := p.WireLen(); h.kind != data && h.kind != nack && got != want {
			t.Errorf("%+v: %d bytes on the wire, want %d", h, got, want)
		}
	}
	// A full data packet fills the frame: MSS and headers make up the MTU.
	if got := wire.WireLen(dataLen, int(framing(1500).MSS)); got != 1538 {
		t.Errorf("full data packet: %d", got)
	}
}
