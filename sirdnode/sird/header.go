package sird

import (
	"encoding/binary"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
)

// Port is the UDP destination port of SIRD.
const Port = 47010

// kind is a packet's type.
type kind uint8

// The packet types (README, Header).
const (
	data   kind = 1 + iota // bytes of a message, or with the request flag none
	credit                 // receiver to sender: send that much more
	resend                 // receiver to sender: a range is missing; a grant as well
	ack                    // receiver to sender: the message is complete
	busy                   // either way: the message is not lost, it waits
)

// flags of a header.
type flags uint8

const (
	csn       flags = 0x80 // the sender holds more than SThr of credit
	scheduled flags = 0x40 // these bytes were paid for with credit
	request   flags = 0x20 // a DATA without payload that asks for credit; a BUSY from a receiver
	gone      flags = 0x10 // a BUSY from a sender that does not know the message
)

const (
	version = 1
	// Every packet begins with baseLen bytes:
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   flags (4 bits), epoch (4 bits)
	//	2   message id (4)
	//	6   cumulative credit (4): granted in what receivers send, else spent
	//	10  offset (4)
	//
	// which makes a CREDIT 84 bytes on the wire, Ethernet's least.
	baseLen = 14
	// RESEND continues with the length of the missing range (4).
	resendLen = baseLen + 4
	// BUSY has in place of the offset the total of credit granted that its sender has seen, and continues with how
	// many bytes of the message it has sent (4).
	busyLen = baseLen + 4
	// DATA continues with
	//
	//	14  message length (4)
	//	18  tag (4)
	//	22  how far the id is above the lowest unacknowledged one (2)
	//	24  packets in the unscheduled prefix (2)
	dataLen = baseLen + 12
)

// A header is a SIRD header, decoded.
type header struct {
	kind   kind
	flags  flags
	epoch  uint8 // of the credit counts, modulo 16
	id     transport.MessageID
	credit uint32 // cumulative wire bytes, modulo 2^32
	offset uint32 // BUSY: the total of credit that was granted, as far as its sender knows

	length     uint32 // DATA: of the message; RESEND: of the range; BUSY: bytes of the message sent so far
	tag        transport.Tag
	aboveFloor uint16 // DATA: id minus the sender's lowest unacknowledged id
	prefix     uint16 // DATA: unscheduled prefix in packets
}

// fromReceiver reports that the receiver of the message sends the packet, with the
// total of credit granted; else its sender does, with the total spent.
func (h *header) fromReceiver() bool {
	switch h.kind {
	case credit, resend, ack:
		return true
	case busy:
		return h.flags&request != 0
	}
	return false
}

// table is the header for captures.
var table = wire.Header{
	Version: version, Credit: wire.CreditTotals,
	Types: []wire.Type{
		{Value: uint8(data), Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: uint8(credit), Name: "CREDIT", Len: baseLen, From: wire.Receiver, Grant: true},
		{Value: uint8(resend), Name: "RESEND", Len: resendLen, From: wire.Receiver, Grant: true},
		{Value: uint8(ack), Name: "ACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(busy), Name: "BUSY", Len: busyLen},
	},
	Fields: []wire.Field{
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 2, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message", At: 10, Size: 4, Role: wire.Offset,
			In: 1<<data | 1<<credit | 1<<resend | 1<<ack},
		{Name: "seen", Doc: "total granted that the sender has seen, wire bytes modulo 2^32", At: 10, Size: 4,
			In: 1 << busy},
		{Name: "sent", Doc: "bytes of the message sent so far", At: 14, Size: 4, In: 1 << busy},
		{Name: "length", Doc: "bytes of the message", At: 14, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "range", Doc: "bytes that are missing", At: 14, Size: 4, In: 1 << resend, Role: wire.Range},
		{Name: "credit", Doc: "total granted, or of what the sender sends total spent, wire bytes modulo 2^32",
			At: 6, Size: 4, Role: wire.CreditTotal},
		{Name: "epoch", Doc: "of the credit's totals, modulo 16", At: 1, Mask: 0x0f, Role: wire.CreditEpoch},
		{Name: "csn", Doc: "the sender holds more than SThr of credit", At: 1, Mask: uint8(csn), Role: wire.CSN},
		{Name: "scheduled", Doc: "paid for with credit", At: 1, Mask: uint8(scheduled)},
		{Name: "request", Doc: "asks for credit; of a CREDIT: for a BUSY in answer", At: 1, Mask: uint8(request),
			In: 1<<data | 1<<credit | 1<<resend | 1<<ack},
		{Name: "from_receiver", Doc: "the message's receiver sends this", At: 1, Mask: uint8(request), In: 1 << busy,
			Role: wire.FromReceiver},
		{Name: "gone", Doc: "the sender has no such message", At: 1, Mask: uint8(gone)},
		{Name: "tag", Doc: "the application's", At: 18, Size: 4, In: 1 << data},
		{Name: "above_floor", Doc: "id less the lowest one that is not acknowledged; 65535: more than fits", At: 22,
			Size: 2, In: 1 << data},
		{Name: "prefix", Doc: "packets in the unscheduled prefix", At: 24, Size: 2, In: 1 << data,
			Role: wire.Unscheduled},
	},
}

var lengths = layout.Of(&table)

// encode writes h into p's header.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0] = version<<4 | byte(h.kind)
	b[1] = byte(h.flags) | h.epoch&15
	binary.BigEndian.PutUint32(b[2:], uint32(h.id))
	binary.BigEndian.PutUint32(b[6:], h.credit)
	binary.BigEndian.PutUint32(b[10:], h.offset)
	p.HeaderLen = baseLen
	switch h.kind {
	case data:
		binary.BigEndian.PutUint32(b[14:], h.length)
		binary.BigEndian.PutUint32(b[18:], uint32(h.tag))
		binary.BigEndian.PutUint16(b[22:], h.aboveFloor)
		binary.BigEndian.PutUint16(b[24:], h.prefix)
		p.HeaderLen = dataLen
	case resend, busy:
		binary.BigEndian.PutUint32(b[14:], h.length)
		p.HeaderLen = resendLen
	}
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := lengths.Len(b); err != nil {
		return err
	}
	*h = header{
		kind:   kind(b[0] & 15),
		flags:  flags(b[1] & 0xf0),
		epoch:  b[1] & 15,
		id:     transport.MessageID(binary.BigEndian.Uint32(b[2:])),
		credit: binary.BigEndian.Uint32(b[6:]),
		offset: binary.BigEndian.Uint32(b[10:]),
	}
	switch h.kind {
	case data:
		h.length = binary.BigEndian.Uint32(b[14:])
		h.tag = transport.Tag(binary.BigEndian.Uint32(b[18:]))
		h.aboveFloor = binary.BigEndian.Uint16(b[22:])
		h.prefix = binary.BigEndian.Uint16(b[24:])
	case resend, busy:
		h.length = binary.BigEndian.Uint32(b[14:])
	}
	return nil
}
