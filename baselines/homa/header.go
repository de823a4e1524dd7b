package homa

import (
	"encoding/binary"
	"errors"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
)

// Port is the UDP destination port of Homa.
const Port = 47022

// kind is a packet's type.
type kind uint8

// The packet types, with HomaModule's names (README, Wire format). CUTOFFS and
// FREEZE are not needed: cutoffs are a parameter.
const (
	data    kind = 1 + iota // bytes of a message
	grant                   // receiver to sender: send up to offset, at this priority
	resend                  // receiver to sender: a range is missing; a grant as well
	busy                    // either way: the message is known, and waits
	ack                     // receiver to sender: the message is complete
	needAck                 // sender to receiver: in what state is the message?
	unknown                 // either way: there is no such message here
)

const (
	version = 1
	// Every packet begins with baseLen bytes:
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   from the sender (1 bit), reserved (4 bits, 0), priority (3 bits)
	//	2   message id (4)
	//	6   offset (4)
	//
	// so that a GRANT fits Ethernet's smallest packet, 84 bytes on the wire.
	// BUSY and UNKNOWN travel either way: the first bit of byte 1 shows that the
	// packet comes from the message's sender.
	baseLen = 10
	// RESEND continues with the length of the missing range (4).
	resendLen = baseLen + 4
	// DATA continues with
	//
	//	10  message length (4)
	//	14  tag (4)
	//	18  how far the id is above the lowest unacknowledged one (2)
	//	20  unscheduled packets at the start of the message (2)
	dataLen = baseLen + 12

	fromSenderBit = 0x80
	priorityBits  = 0x07
)

// maxUnscheduled is the most unscheduled packets that the header can describe.
const maxUnscheduled = 1<<16 - 1

// A header is a decoded header.
type header struct {
	kind       kind
	fromSender bool
	priority   uint8 // GRANT, RESEND: of the data to be sent
	id         transport.MessageID
	offset     uint32 // DATA, RESEND: of the bytes in the message; GRANT: up to where to send

	length      uint32 // DATA: of the message; RESEND: of the range
	tag         transport.Tag
	aboveFloor  uint16 // DATA: id minus the sender's lowest unacknowledged id
	unscheduled uint16 // DATA: packets that need no grant
}

var errReserved = errors.New("Homa header with reserved bits set")

// table is the header for captures.
var table = wire.Header{
	Version: version, Credit: wire.CreditOffsets,
	Types: []wire.Type{
		{Value: uint8(data), Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: uint8(grant), Name: "GRANT", Len: baseLen, From: wire.Receiver, Grant: true},
		{Value: uint8(resend), Name: "RESEND", Len: resendLen, From: wire.Receiver},
		{Value: uint8(busy), Name: "BUSY", Len: baseLen},
		{Value: uint8(ack), Name: "ACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(needAck), Name: "NEED_ACK", Len: baseLen, From: wire.Sender},
		{Value: uint8(unknown), Name: "UNKNOWN", Len: baseLen},
	},
	Fields: []wire.Field{
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 2, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message; of a GRANT, up to which byte to send", At: 6, Size: 4,
			Role: wire.Offset},
		{Name: "length", Doc: "bytes of the message", At: 10, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "range", Doc: "bytes that are missing", At: 10, Size: 4, In: 1 << resend, Role: wire.Range},
		{Name: "priority", Doc: "of the data to be sent, 7 the most urgent", At: 1, Mask: priorityBits},
		{Name: "from_sender", Doc: "the message's sender sends this", At: 1, Mask: fromSenderBit,
			Role: wire.FromSender},
		{Name: "tag", Doc: "the application's", At: 14, Size: 4, In: 1 << data},
		{Name: "above_floor", Doc: "id less the lowest one that is not acknowledged; 65535: more than fits", At: 18,
			Size: 2, In: 1 << data},
		{Name: "unscheduled", Doc: "packets at the start of the message that need no grant", At: 20, Size: 2,
			In: 1 << data, Role: wire.Unscheduled},
	},
}

var lengths = layout.Of(&table)

// headerLen returns the length of the header that b begins with.
func headerLen(b []byte) (int, error) {
	n, err := lengths.Len(b)
	if err == nil && b[1]&^(fromSenderBit|priorityBits) != 0 {
		return 0, errReserved
	}
	return n, err
}

// encode writes h into p.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0] = version<<4 | byte(h.kind)
	b[1] = h.priority & priorityBits
	if h.fromSender {
		b[1] |= fromSenderBit
	}
	binary.BigEndian.PutUint32(b[2:], uint32(h.id))
	binary.BigEndian.PutUint32(b[6:], h.offset)
	p.HeaderLen = baseLen
	switch h.kind {
	case data:
		binary.BigEndian.PutUint32(b[10:], h.length)
		binary.BigEndian.PutUint32(b[14:], uint32(h.tag))
		binary.BigEndian.PutUint16(b[18:], h.aboveFloor)
		binary.BigEndian.PutUint16(b[20:], h.unscheduled)
		p.HeaderLen = dataLen
	case resend:
		binary.BigEndian.PutUint32(b[10:], h.length)
		p.HeaderLen = resendLen
	}
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := headerLen(b); err != nil {
		return err
	}
	*h = header{
		kind:       kind(b[0] & 15),
		fromSender: b[1]&fromSenderBit != 0,
		priority:   b[1] & priorityBits,
		id:         transport.MessageID(binary.BigEndian.Uint32(b[2:])),
		offset:     binary.BigEndian.Uint32(b[6:]),
	}
	switch h.kind {
	case data:
		h.length = binary.BigEndian.Uint32(b[10:])
		h.tag = transport.Tag(binary.BigEndian.Uint32(b[14:]))
		h.aboveFloor = binary.BigEndian.Uint16(b[18:])
		h.unscheduled = binary.BigEndian.Uint16(b[20:])
	case resend:
		h.length = binary.BigEndian.Uint32(b[10:])
	}
	return nil
}
