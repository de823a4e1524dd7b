package homa

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/sirdnode/wire"
)

var headers = []header{
	{kind: data, fromSender: true, id: 7, offset: 1446, length: 10_000_000, tag: 1<<31 | 5, aboveFloor: 3,
		unscheduled: 69},
	{kind: grant, priority: 6, id: 9, offset: 101_220},
	{kind: resend, priority: 7, id: 2, offset: 1446, length: 2892},
	{kind: busy, fromSender: true, id: 4},
	{kind: busy, id: 4},
	{kind: ack, id: 3},
	{kind: needAck, fromSender: true, id: 1 << 31},
	{kind: unknown, id: 0},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: headerLen, Table: &table,
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }

// A grant of SIRD's port takes 86 bytes on the wire; here it fits Ethernet's
// smallest packet (README, Wire format). A full packet is Ethernet's largest.
func TestControlPacketsAreEthernetsSmallest(t *testing.T) {
	for _, h := range headers {
		var p transport.Packet
		h.encode(&p)
		if h.kind == data {
			if mss := framing(1500).MSS; mss != 1446 || wire.WireLen(p.HeaderLen, int(mss)) != 1538 {
				t.Errorf("a full packet carries %d in %d", mss, wire.WireLen(p.HeaderLen, int(mss)))
			}
		} else if got := p.WireLen(); got != 84 {
			t.Errorf("%+v takes %d", h, got)
		}
	}
}
