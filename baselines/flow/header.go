package flow

import (
	"encoding/binary"
	"errors"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
)

// kind is a packet's type.
type kind uint8

const (
	data kind = 1 + iota // bytes of a message
	ack                  // receiver to sender: what has arrived
)

const (
	version = 1
	// Every packet begins with baseLen bytes:
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   ECN echo (1 bit), number of ranges (7 bits)
	//	2   connection (1)
	//	3   message id (4)
	//	7   DATA: offset; ACK: all bytes below have arrived (4)
	//	11  DATA: time of departure, ns modulo 2^32; ACK: that of the packet
	//	    which caused it (4)
	baseLen = 15
	// DATA continues with
	//
	//	15  message length (4)
	//	19  tag (4)
	//	23  how far the id is above the lowest unsettled one (2)
	dataLen = baseLen + 10
	// ACK continues with
	//
	//	15  how long the receiver delayed it, ns (4)
	//	19  ranges that have arrived beyond the offset: from (4), to (4)
	ackLen   = baseLen + 4
	rangeLen = 8

	// maxRanges counts the range just received, unless it is at the offset, and
	// the two lowest ones.
	maxRanges = 3

	echoBit = 0x80
)

// MaxConnections is the largest pool that the header can name.
const MaxConnections = 256

// WhyConnections is why there are no more.
const WhyConnections = "a header names a connection in 8 bits"

// MaxWindow is the largest window that a parameter may state, in segments.
const MaxWindow = 1e6

// WhyWindow is why it is.
const WhyWindow = "a window of a million segments is none"

// A header is a decoded header.
type header struct {
	kind       kind
	echo       bool // ACK: of a packet that was marked
	connection uint8
	id         transport.MessageID
	offset     uint32
	stamp      uint32 // of departure, ns modulo 2^32

	length     uint32 // DATA
	tag        transport.Tag
	aboveFloor uint16

	ackDelay uint32 // ACK
	ranges   [maxRanges]extent
	n        int // of ranges
}

// An extent is the bytes [from, to).
type extent struct{ from, to uint32 }

var errRanges = errors.New("header with too many ranges")

// Headers are the headers for captures.
var Headers = wire.Header{
	Version: version,
	Types: []wire.Type{
		{Value: uint8(data), Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: uint8(ack), Name: "ACK", Len: ackLen, Each: rangeLen, From: wire.Receiver},
	},
	Fields: []wire.Field{
		{Name: "connection", Doc: "of the pool from the sender to the receiver", At: 2},
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 3, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message; of an ACK, all bytes below it have arrived", At: 7, Size: 4,
			Role: wire.Offset},
		{Name: "length", Doc: "bytes of the message", At: 15, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "echo", Doc: "the packet that is acknowledged was marked", At: 1, Mask: echoBit, In: 1 << ack,
			Role: wire.Echo},
		{Name: "stamp", Doc: "when the DATA left that this is, or acknowledges, ns modulo 2^32", At: 11, Size: 4},
		{Name: "held", Doc: "how long the receiver delayed the acknowledgment, ns", At: 15, Size: 4, In: 1 << ack},
		{Name: "ranges", Doc: "that have arrived beyond the offset", At: 1, Mask: 0x7f, In: 1 << ack, Role: wire.Count},
		{Name: "range_from", Doc: "first byte of a range", At: ackLen, Size: 4, In: 1 << ack, Each: rangeLen},
		{Name: "range_to", Doc: "first byte behind a range", At: ackLen + 4, Size: 4, In: 1 << ack, Each: rangeLen},
		{Name: "tag", Doc: "the application's", At: 19, Size: 4, In: 1 << data},
		{Name: "above_floor", Doc: "id less the lowest one that is not settled; 65535: more than fits", At: 23,
			Size: 2, In: 1 << data},
	},
}

// lengths are those of headers without ranges.
var lengths = layout.Of(&Headers)

// HeaderLen returns the length of the header that b begins with.
func HeaderLen(b []byte) (int, error) {
	n, err := lengths.Len(b)
	if err != nil {
		return 0, err
	}
	ranges := int(b[1] &^ echoBit)
	if kind(b[0]&15) == data && b[1] != 0 || ranges > maxRanges {
		return 0, errRanges
	}
	n += rangeLen * ranges
	if len(b) < n {
		return 0, wire.ErrTruncated
	}
	return n, nil
}

// encode writes h into p.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0] = version<<4 | byte(h.kind)
	b[1] = 0
	b[2] = h.connection
	binary.BigEndian.PutUint32(b[3:], uint32(h.id))
	binary.BigEndian.PutUint32(b[7:], h.offset)
	binary.BigEndian.PutUint32(b[11:], h.stamp)
	switch h.kind {
	case data:
		binary.BigEndian.PutUint32(b[15:], h.length)
		binary.BigEndian.PutUint32(b[19:], uint32(h.tag))
		binary.BigEndian.PutUint16(b[23:], h.aboveFloor)
		p.HeaderLen = dataLen
	case ack:
		b[1] = byte(h.n)
		if h.echo {
			b[1] |= echoBit
		}
		binary.BigEndian.PutUint32(b[15:], h.ackDelay)
		for i, r := range h.ranges[:h.n] {
			binary.BigEndian.PutUint32(b[ackLen+rangeLen*i:], r.from)
			binary.BigEndian.PutUint32(b[ackLen+rangeLen*i+4:], r.to)
		}
		p.HeaderLen = ackLen + rangeLen*h.n
	}
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := HeaderLen(b); err != nil {
		return err
	}
	*h = header{
		kind:       kind(b[0] & 15),
		connection: b[2],
		id:         transport.MessageID(binary.BigEndian.Uint32(b[3:])),
		offset:     binary.BigEndian.Uint32(b[7:]),
		stamp:      binary.BigEndian.Uint32(b[11:]),
	}
	switch h.kind {
	case data:
		h.length = binary.BigEndian.Uint32(b[15:])
		h.tag = transport.Tag(binary.BigEndian.Uint32(b[19:]))
		h.aboveFloor = binary.BigEndian.Uint16(b[23:])
	case ack:
		h.echo = b[1]&echoBit != 0
		h.ackDelay = binary.BigEndian.Uint32(b[15:])
		h.n = int(b[1] &^ echoBit)
		for i := range h.n {
			at := b[ackLen+rangeLen*i:]
			h.ranges[i] = extent{binary.BigEndian.Uint32(at), binary.BigEndian.Uint32(at[4:])}
		}
	}
	return nil
}
