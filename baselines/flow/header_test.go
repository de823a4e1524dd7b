package flow

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: data, connection: 39, id: 7, offset: 1443 * 5, stamp: 1 << 31, length: 10_000_000, tag: 1<<31 | 5,
		aboveFloor: 3},
	{kind: data, connection: 255, id: 1<<32 - 1, offset: 1<<32 - 2, stamp: 1<<32 - 1, length: 1<<32 - 1,
		aboveFloor: account.FloorUnknown},
	{kind: ack, echo: true, id: 9, offset: 8, stamp: 77, ackDelay: 6000},
	{kind: ack, connection: 1, id: 9, offset: 1443,
		ranges: [maxRanges]extent{{2886, 4329}, {5772, 7215}, {1 << 30, 1 << 31}}, n: 3},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: HeaderLen, Table: &Headers,
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

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
