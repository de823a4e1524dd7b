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
	data        kind = 1 + iota // bytes of a message that were paid for with credit
	credit                      // receiver to sender: send that much more
	resend                      // receiver to sender: a range is missing; a grant as well
	ack                         // receiver to sender: the message is complete
	busy                        // either way: the message is not lost, it waits
	unscheduled                 // bytes of a message that need no credit, or with the request flag none
)

// flags of a header.
type flags uint8

const (
	csn     flags = 0x80 // the sender holds more than SThr of credit
	rides   flags = 0x40 // acknowledgements ride behind the header of DATA, UNSCHEDULED and CREDIT
	request flags = 0x20 // an unscheduled packet without payload that asks for credit; a BUSY from a receiver
	gone    flags = 0x10 // a BUSY from a sender that does not know the message
)

const (
	version = 1
	// Every packet begins with
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   flags (4 bits), epoch (4 bits)
	//	2   message id (4)
	//
	// CREDIT and ACK continue with
	//
	//	6   cumulative credit (4): granted in what receivers send, else spent; ACK: the messages below (acked.below)
	//	10  incarnations of the one that sends this (2) and of the other (2)
	//
	// which makes a CREDIT 84 bytes on the wire, Ethernet's least. RESEND continues with the offset (4) and the length
	// (4) of the missing range, BUSY with the total of credit granted that its sender has seen (4), and how many bytes
	// of the message it has sent (4).
	baseLen  = 14
	rangeLen = baseLen + 8
	// DATA and UNSCHEDULED continue with
	//
	//	6   cumulative credit spent (4), or unscheduled both incarnations (2, 2)
	//	10  offset (4)
	//	14  message length (4)
	//	18  tag (4)
	//	22  both incarnations in one (2), or unscheduled how far the id is above the lowest unacknowledged one
	//	24  packets in the unscheduled prefix (2)
	dataLen = baseLen + 12
	// Acknowledgements that ride continue with a message id (4) and those below it (4).
	rideLen = 8
)

// rideAt returns where acknowledgements ride in packets of a type, 0 if they do not.
func (k kind) rideAt() int {
	switch k {
	case credit:
		return baseLen
	case data, unscheduled:
		return dataLen
	}
	return 0
}

// A header is a SIRD header, decoded.
type header struct {
	kind   kind
	flags  flags
	epoch  uint8 // of the credit counts, modulo 16
	id     transport.MessageID
	from   transport.Incarnation // of the host that sends the packet; DATA: of both ends (pairOf)
	to     transport.Incarnation // of its peer, 0 if not known; not in DATA
	credit uint32                // cumulative wire bytes, modulo 2^32; not in UNSCHEDULED and ACK
	offset uint32                // BUSY: the total of credit that was granted, as far as its sender knows

	length uint32 // data: of the message; RESEND: of the range; BUSY: bytes of the message sent so far,
	// or of a receiver: the id below which it knows all messages
	tag        transport.Tag
	aboveFloor uint16 // UNSCHEDULED: id minus the sender's lowest unacknowledged id
	prefix     uint16 // data: unscheduled prefix in packets

	acked acked // ACK: below id; with rides: messages of the other direction that were delivered
}

// isData reports whether the packet is of a message's bytes, or asks for credit for them.
func (h *header) isData() bool { return h.kind == data || h.kind == unscheduled }

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

const (
	anyData = 1<<data | 1<<unscheduled
	totals  = 1<<credit | 1<<resend | 1<<busy
	others  = totals | 1<<ack
)

const (
	ackedDoc = "delivered message of the other direction"
	belowDoc = "delivered ones below that: the lowest bit is the next lower id"
)

// table is the header for captures.
var table = wire.Header{
	Version: version, Credit: wire.CreditTotals,
	Types: []wire.Type{
		{Value: uint8(data), Name: "DATA", Len: dataLen, Each: rideLen, From: wire.Sender, Data: true},
		{Value: uint8(credit), Name: "CREDIT", Len: baseLen, Each: rideLen, From: wire.Receiver, Grant: true},
		{Value: uint8(resend), Name: "RESEND", Len: rangeLen, From: wire.Receiver, Grant: true},
		{Value: uint8(ack), Name: "ACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(busy), Name: "BUSY", Len: rangeLen},
		{Value: uint8(unscheduled), Name: "UNSCHEDULED", Len: dataLen, Each: rideLen, From: wire.Sender, Data: true},
	},
	Fields: []wire.Field{
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 2, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message", At: 10, Size: 4, Role: wire.Offset, In: anyData},
		{Name: "offset", Doc: "first byte in the message", At: 14, Size: 4, Role: wire.Offset, In: 1 << resend},
		{Name: "length", Doc: "bytes of the message", At: 14, Size: 4, In: anyData, Role: wire.Length},
		{Name: "range", Doc: "bytes that are missing", At: 18, Size: 4, In: 1 << resend, Role: wire.Range},
		{Name: "seen", Doc: "total granted that the sender has seen, wire bytes modulo 2^32", At: 14, Size: 4,
			In: 1 << busy},
		{Name: "sent", Doc: "bytes of the message sent so far; of a receiver: the id below which it knows all", At: 18,
			Size: 4, In: 1 << busy},
		{Name: "credit", Doc: "total granted, or of what the sender sends total spent, wire bytes modulo 2^32",
			At: 6, Size: 4, Role: wire.CreditTotal, In: 1<<data | totals},
		{Name: "epoch", Doc: "of the credit's totals, modulo 16", At: 1, Mask: 0x0f, Role: wire.CreditEpoch,
			In: anyData | totals},
		{Name: "from", Doc: "incarnation of the host that sends this", At: 6, Size: 2, In: 1 << unscheduled},
		{Name: "from", Doc: "incarnation of the host that sends this", At: 10, Size: 2, In: others},
		{Name: "to", Doc: "incarnation of the host that this is for, 0: not known", At: 8, Size: 2,
			In: 1 << unscheduled},
		{Name: "to", Doc: "incarnation of the host that this is for, 0: not known", At: 12, Size: 2, In: others},
		{Name: "lives", Doc: "both incarnations in one", At: 22, Size: 2, In: 1 << data},
		{Name: "csn", Doc: "the sender holds more than SThr of credit", At: 1, Mask: uint8(csn), Role: wire.CSN},
		{Name: "request", Doc: "asks for credit; of a CREDIT: for a BUSY in answer", At: 1, Mask: uint8(request),
			In: anyData | 1<<credit | 1<<resend | 1<<ack},
		{Name: "from_receiver", Doc: "the message's receiver sends this", At: 1, Mask: uint8(request), In: 1 << busy,
			Role: wire.FromReceiver},
		{Name: "gone", Doc: "the sender has no such message", At: 1, Mask: uint8(gone)},
		{Name: "tag", Doc: "the application's", At: 18, Size: 4, In: anyData},
		{Name: "above_floor", Doc: "id less the lowest one that is not acknowledged; 65535: more than fits", At: 22,
			Size: 2, In: 1 << unscheduled},
		{Name: "prefix", Doc: "packets in the unscheduled prefix", At: 24, Size: 2, In: anyData,
			Role: wire.Unscheduled},
		{Name: "below", Doc: belowDoc, At: 6, Size: 4, In: 1 << ack},
		{Name: "rides", Doc: "acknowledgements follow", At: 1, Mask: uint8(rides), In: anyData | 1<<credit,
			Role: wire.Count},
		{Name: "acked", Doc: ackedDoc, At: dataLen, Size: 4, In: anyData, Each: rideLen},
		{Name: "acked", Doc: ackedDoc, At: baseLen, Size: 4, In: 1 << credit, Each: rideLen},
		{Name: "acked_below", Doc: belowDoc, At: dataLen + 4, Size: 4, In: anyData, Each: rideLen},
		{Name: "acked_below", Doc: belowDoc, At: baseLen + 4, Size: 4, In: 1 << credit, Each: rideLen},
	},
}

// lengths are those of headers on which no acknowledgements ride.
var lengths = layout.Of(&table)

// headerLen returns the length of the header that b begins with.
func headerLen(b []byte) (int, error) {
	n, err := lengths.Len(b)
	if err != nil || flags(b[1])&rides == 0 || kind(b[0]&15).rideAt() == 0 {
		return n, err
	}
	if n += rideLen; len(b) < n {
		return 0, wire.ErrTruncated
	}
	return n, nil
}

// encode writes h into p's header.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0] = version<<4 | byte(h.kind)
	b[1] = byte(h.flags) | h.epoch&15
	be := binary.BigEndian
	be.PutUint32(b[2:], uint32(h.id))
	p.HeaderLen = lengths.Lengths[h.kind]
	if at := h.kind.rideAt(); at > 0 && h.flags&rides != 0 {
		be.PutUint32(b[at:], uint32(h.acked.top))
		be.PutUint32(b[at+4:], h.acked.below)
		p.HeaderLen += rideLen
	}
	if !h.isData() {
		be.PutUint32(b[6:], h.credit)
		if h.kind == ack {
			be.PutUint32(b[6:], h.acked.below)
		}
		be.PutUint16(b[10:], uint16(h.from))
		be.PutUint16(b[12:], uint16(h.to))
		if lengths.Lengths[h.kind] == rangeLen {
			be.PutUint32(b[14:], h.offset)
			be.PutUint32(b[18:], h.length)
		}
		return
	}
	be.PutUint32(b[10:], h.offset)
	be.PutUint32(b[14:], h.length)
	be.PutUint32(b[18:], uint32(h.tag))
	be.PutUint16(b[24:], h.prefix)
	if h.kind == data {
		be.PutUint32(b[6:], h.credit)
		be.PutUint16(b[22:], uint16(h.from))
		return
	}
	be.PutUint16(b[6:], uint16(h.from))
	be.PutUint16(b[8:], uint16(h.to))
	be.PutUint16(b[22:], h.aboveFloor)
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := headerLen(b); err != nil {
		return err
	}
	be := binary.BigEndian
	*h = header{
		kind:  kind(b[0] & 15),
		flags: flags(b[1] & 0xf0),
		epoch: b[1] & 15,
		id:    transport.MessageID(be.Uint32(b[2:])),
	}
	if at := h.kind.rideAt(); at > 0 && h.flags&rides != 0 {
		h.acked = acked{transport.MessageID(be.Uint32(b[at:])), be.Uint32(b[at+4:])}
	}
	if !h.isData() {
		if h.kind == ack {
			h.acked = acked{h.id, be.Uint32(b[6:])}
		} else {
			h.credit = be.Uint32(b[6:])
		}
		h.from, h.to = transport.Incarnation(be.Uint16(b[10:])), transport.Incarnation(be.Uint16(b[12:]))
		if lengths.Lengths[h.kind] == rangeLen {
			h.offset, h.length = be.Uint32(b[14:]), be.Uint32(b[18:])
		}
		return nil
	}
	h.offset, h.length = be.Uint32(b[10:]), be.Uint32(b[14:])
	h.tag, h.prefix = transport.Tag(be.Uint32(b[18:])), be.Uint16(b[24:])
	if h.kind == data {
		h.credit, h.from = be.Uint32(b[6:]), transport.Incarnation(be.Uint16(b[22:]))
		return nil
	}
	h.from, h.to = transport.Incarnation(be.Uint16(b[6:])), transport.Incarnation(be.Uint16(b[8:]))
	h.aboveFloor = be.Uint16(b[22:])
	return nil
}
