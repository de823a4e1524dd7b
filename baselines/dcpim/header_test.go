package dcpim

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/headertest"
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
	{kind: data, id: 2, unscheduled: true, seq: 3, offset: 4332, length: 10_000_000, tag: 8,
		aboveFloor: account.FloorUnknown},
	{kind: ack, id: 3},
	{kind: gone, id: 4},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: lengths.Len, Table: &table,
	// The lower half of the second byte, and what a type does not use, are not read.
	Equal: func(header, []byte, []byte) bool { return true },
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

// Matching packets and tokens are Ethernet's smallest; the simulator's 40 bytes
// are its smallest too (README, Wire format).
func TestControlPacketsAreEthernetsSmallest(t *testing.T) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		if got := wire.WireLen(p.HeaderLen, 0); got > 84 && h.kind != rts && h.kind != data {
			t.Errorf("%+v: %d bytes", h, got)
		}
	}
}
