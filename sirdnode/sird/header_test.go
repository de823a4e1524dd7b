package sird

import (
	"testing"

	"sirdbed/sirdnode/transport/headertest"
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

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: lengths.Len, Table: &table,
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

// README, Byte accounting: a CREDIT is 84 bytes on the wire.
func TestCreditIsEthernetsSmallestPacket(t *testing.T) {
	if got := wire.WireLen(baseLen, 0); got != 84 {
		t.Errorf("%d", got)
	}
}
