package sird

import (
	"testing"

	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: data, flags: csn, epoch: 15, id: 7, credit: 1 << 31, offset: 8942, length: 10_000_000,
		tag: 1<<31 | 5, from: 0x0102, prefix: 24},
	{kind: unscheduled, flags: csn, epoch: 1, id: 7, from: 5, to: 1 << 15, offset: 1442, length: 10_000, tag: 6,
		aboveFloor: 3, prefix: 7},
	{kind: unscheduled, flags: request, id: 1, length: 1 << 30},
	{kind: credit, epoch: 1, id: 9, credit: 0xffffffff, from: 17, to: 18},
	{kind: credit, flags: request, id: 9, credit: 4},
	{kind: resend, id: 2, credit: 5, offset: 100, length: 200, from: 1},
	{kind: ack, id: 3, to: 4, acked: acked{3, 5}},
	{kind: data, flags: csn | rides, id: 7, credit: 1538, length: 100, prefix: 1, acked: acked{1 << 31, 1<<32 - 1}},
	{kind: unscheduled, flags: rides, id: 8, length: 100, prefix: 1, acked: acked{0, 6}},
	{kind: credit, flags: rides, id: 9, credit: 7, acked: acked{1, 0}},
	{kind: busy, flags: rides, id: 9, credit: 7}, // means nothing there
	{kind: busy, flags: gone, id: 4, credit: 8, offset: 9, length: 1442, from: 2, to: 3},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: headerLen, Table: &table,
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

// README, Byte accounting: a CREDIT is 84 bytes on the wire.
func TestCreditIsEthernetsSmallestPacket(t *testing.T) {
	if got := wire.WireLen(baseLen, 0); got != 84 {
		t.Errorf("%d", got)
	}
}
