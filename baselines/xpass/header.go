package xpass

import (
	"encoding/binary"
	"errors"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
)

// Port is the UDP destination port of ExpressPass.
const Port = 47024

// kind is a packet's type.
type kind uint8

// The packet types (README, Wire format). ack and busy are not the released
// simulator's: they are for networks that lose packets.
const (
	request kind = 1 + iota // sender to receiver: asks for credits
	credit                  // receiver to sender: allows one data packet
	data                    // sender to receiver: the packet that a credit allowed
	stop                    // sender to receiver: no more credits are needed
	nack                    // receiver to sender: a range is missing
	ack                     // receiver to sender: the message is complete
	busy                    // receiver to sender: the message is known, and gets credits
)

const (
	version = 1
	// Every packet begins with:
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   CREDIT: bytes of padding at the end; STOP: 1 if the message was given up
	//	2   connection (2), among those from the sender to the receiver
	//
	// CREDIT continues with
	//
	//	4   message id modulo 2^16 (2)
	//	6   credit sequence number (4)
	//	10  when it was sent, in ns modulo 2^32 (4)
	//
	// and padding. Without padding it takes 84 bytes on the wire, Ethernet's
	// least. The others continue with the message id (4), and then
	//
	//	REQUEST   packets left to be sent (4)
	//	STOP      payload sent so far (4)
	//	NACK      offset (4) and length (4) of the missing range
	//	DATA      sequence number (4) and time (4) of its credit,
	//	          message length (4), tag (4), offset (4),
	//	          how far the id is above the lowest unsettled one (2)
	baseLen    = 8
	controlLen = baseLen + 4
	creditLen  = 14
	nackLen    = baseLen + 8
	dataLen    = baseLen + 22
)

// maxPad is the largest padding that a credit has room for.
const maxPad = transport.MaxHeader - creditLen

// A header is a decoded header.
type header struct {
	kind kind
	pad  uint8 // CREDIT
	gone bool  // STOP
	conn uint16
	id   transport.MessageID // CREDIT: the lowest 16 bits

	seq        uint32 // CREDIT, DATA
	time       uint32 // CREDIT, DATA: when the credit was sent
	count      uint32 // REQUEST: packets left; STOP: payload sent
	offset     uint32 // NACK, DATA
	length     uint32 // NACK: of the range; DATA: of the message
	tag        transport.Tag
	aboveFloor uint16 // DATA: id minus the sender's lowest unsettled one
}

var errPad = errors.New("ExpressPass credit with too much padding")

// table is the header for captures.
var table = wire.Header{
	Version: version, Credit: wire.CreditPackets,
	Types: []wire.Type{
		{Value: uint8(request), Name: "CREDIT_REQUEST", Len: controlLen, From: wire.Sender},
		{Value: uint8(credit), Name: "CREDIT", Len: creditLen, Each: 1, From: wire.Receiver, Grant: true},
		{Value: uint8(data), Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: uint8(stop), Name: "CREDIT_STOP", Len: controlLen, From: wire.Sender},
		{Value: uint8(nack), Name: "NACK", Len: nackLen, From: wire.Receiver},
		{Value: uint8(ack), Name: "ACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(busy), Name: "BUSY", Len: baseLen, From: wire.Receiver},
	},
	Fields: []wire.Field{
		{Name: "connection", Doc: "among those from the sender to the receiver", At: 2, Size: 2},
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 4, Size: 4, In: named,
			Role: wire.Message},
		{Name: "message", Doc: "id modulo 65536", At: 4, Size: 2, In: 1 << credit, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message", At: 24, Size: 4, In: 1 << data, Role: wire.Offset},
		{Name: "offset", Doc: "first byte in the message", At: 8, Size: 4, In: 1 << nack, Role: wire.Offset},
		{Name: "length", Doc: "bytes of the message", At: 16, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "range", Doc: "bytes that are missing", At: 12, Size: 4, In: 1 << nack, Role: wire.Range},
		{Name: "packets", Doc: "left to be sent", At: 8, Size: 4, In: 1 << request},
		{Name: "sent", Doc: "payload bytes so far", At: 8, Size: 4, In: 1 << stop},
		{Name: "gone", Doc: "the sender has given the message up", At: 1, Mask: 1, In: 1 << stop},
		{Name: "sequence", Doc: "number of the credit", At: 6, Size: 4, In: 1 << credit, Role: wire.CreditNumber},
		{Name: "sequence", Doc: "number of the credit", At: 8, Size: 4, In: 1 << data, Role: wire.CreditNumber},
		{Name: "time", Doc: "when the credit was sent, ns modulo 2^32", At: 10, Size: 4, In: 1 << credit},
		{Name: "time", Doc: "when the credit was sent, ns modulo 2^32", At: 12, Size: 4, In: 1 << data},
		{Name: "padding", Doc: "bytes at the header's end", At: 1, In: 1 << credit, Role: wire.Count},
		{Name: "tag", Doc: "the application's", At: 20, Size: 4, In: 1 << data},
		{Name: "above_floor", Doc: "id less the lowest one that is not settled; 65535: more than fits", At: 28,
			Size: 2, In: 1 << data},
	},
}

// named are the types with a whole message id.
const named = 1<<request | 1<<data | 1<<stop | 1<<nack | 1<<ack | 1<<busy

// lengths are those of headers without padding.
var lengths = layout.Of(&table)

// headerLen returns the length of the header that b begins with.
func headerLen(b []byte) (int, error) {
	n, err := lengths.Len(b)
	if err != nil || kind(b[0]&15) != credit {
		return n, err
	}
	if b[1] > maxPad {
		return 0, errPad
	}
	n += int(b[1])
	if len(b) < n {
		return 0, wire.ErrTruncated
	}
	return n, nil
}

// encode writes h into p.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0], b[1] = version<<4|byte(h.kind), 0
	binary.BigEndian.PutUint16(b[2:], h.conn)
	if h.kind == credit {
		b[1] = h.pad
		binary.BigEndian.PutUint16(b[4:], uint16(h.id))
		binary.BigEndian.PutUint32(b[6:], h.seq)
		binary.BigEndian.PutUint32(b[10:], h.time)
		p.HeaderLen = creditLen + int(h.pad)
		clear(b[creditLen:p.HeaderLen])
		return
	}
	binary.BigEndian.PutUint32(b[4:], uint32(h.id))
	p.HeaderLen = baseLen
	switch h.kind {
	case request, stop:
		if h.gone {
			b[1] = 1
		}
		binary.BigEndian.PutUint32(b[8:], h.count)
		p.HeaderLen = controlLen
	case nack:
		binary.BigEndian.PutUint32(b[8:], h.offset)
		binary.BigEndian.PutUint32(b[12:], h.length)
		p.HeaderLen = nackLen
	case data:
		binary.BigEndian.PutUint32(b[8:], h.seq)
		binary.BigEndian.PutUint32(b[12:], h.time)
		binary.BigEndian.PutUint32(b[16:], h.length)
		binary.BigEndian.PutUint32(b[20:], uint32(h.tag))
		binary.BigEndian.PutUint32(b[24:], h.offset)
		binary.BigEndian.PutUint16(b[28:], h.aboveFloor)
		p.HeaderLen = dataLen
	}
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := headerLen(b); err != nil {
		return err
	}
	*h = header{kind: kind(b[0] & 15), conn: binary.BigEndian.Uint16(b[2:])}
	if h.kind == credit {
		h.pad = b[1]
		h.id = transport.MessageID(binary.BigEndian.Uint16(b[4:]))
		h.seq = binary.BigEndian.Uint32(b[6:])
		h.time = binary.BigEndian.Uint32(b[10:])
		return nil
	}
	h.id = transport.MessageID(binary.BigEndian.Uint32(b[4:]))
	switch h.kind {
	case request, stop:
		h.gone = h.kind == stop && b[1] == 1
		h.count = binary.BigEndian.Uint32(b[8:])
	case nack:
		h.offset = binary.BigEndian.Uint32(b[8:])
		h.length = binary.BigEndian.Uint32(b[12:])
	case data:
		h.seq = binary.BigEndian.Uint32(b[8:])
		h.time = binary.BigEndian.Uint32(b[12:])
		h.length = binary.BigEndian.Uint32(b[16:])
		h.tag = transport.Tag(binary.BigEndian.Uint32(b[20:]))
		h.offset = binary.BigEndian.Uint32(b[24:])
		h.aboveFloor = binary.BigEndian.Uint16(b[28:])
	}
	return nil
}
