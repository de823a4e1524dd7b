package dcpim

import (
	"encoding/binary"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
)

// Port is the UDP destination port of dcPIM.
const Port = 47023

// kind is a packet's type.
type kind uint8

// The packet types (README, Wire format). gone is not the simulator's.
const (
	rts     kind = 1 + iota // sender to receiver: announces a message of this size
	rtsAck                  // receiver to sender: the message is known
	request                 // receiver to sender: asks for channels
	grant                   // sender to receiver: offers channels
	accept                  // receiver to sender: these channels are matched
	grantsr                 // sender to receiver: takes accepted channels back
	token                   // receiver to sender: send this packet
	data                    // bytes of a message
	ack                     // receiver to sender: the message is complete
	gone                    // sender to receiver: the message is settled here
)

const (
	version = 1
	// Every packet begins with baseLen bytes:
	//
	//	0   version (4 bits), kind (4 bits)
	//	1   REQUEST, GRANT, ACCEPT, GRANTSR: prompt channels (4 bits), channels (4 bits)
	//	    TOKEN: priority, 0 the first (4 bits), epoch (4 bits)
	//	    DATA: 1 if sent without a token
	//	2   message id (4)
	//	6   REQUEST, GRANT, ACCEPT, GRANTSR: round (4); TOKEN, DATA: token's
	//	    sequence number (4); RTS: message length (4)
	//	10  REQUEST, GRANT: packets missing (4); TOKEN, DATA: offset (4); RTS: tag (4)
	//
	// which makes control packets 84 bytes on the wire, Ethernet's least.
	baseLen = 14
	// RTS continues with how far the id is above the lowest unsettled one (2).
	rtsLen = baseLen + 2
	// DATA continues with message length (4), tag (4), and the same (2).
	dataLen = baseLen + 10
)

// maxPackets is the largest number of packets in a message.
const maxPackets = 1 << 26

// A header is a decoded header.
type header struct {
	kind kind
	id   transport.MessageID

	channels  uint8
	prompt    uint8  // REQUEST, GRANT, ACCEPT: of these, idle until the data phase, or open before it
	round     uint32 // counted from time 0, modulo 2^32
	remaining uint32 // packets that the receiver is missing

	priority    uint8 // TOKEN: among the tokens of one sender
	epoch       uint8 // TOKEN: whose data phase it is for, modulo 16
	unscheduled bool  // DATA: sent without a token
	seq         uint32
	offset      uint32

	length     uint32
	tag        transport.Tag
	aboveFloor uint16
}

// table is the header for captures.
var table = wire.Header{
	Version: version, Credit: wire.CreditPackets,
	Types: []wire.Type{
		{Value: uint8(rts), Name: "RTS", Len: rtsLen, From: wire.Sender},
		{Value: uint8(rtsAck), Name: "RTSACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(request), Name: "REQUEST", Len: baseLen, From: wire.Receiver},
		{Value: uint8(grant), Name: "GRANT", Len: baseLen, From: wire.Sender},
		{Value: uint8(accept), Name: "ACCEPT", Len: baseLen, From: wire.Receiver},
		{Value: uint8(grantsr), Name: "GRANTSR", Len: baseLen, From: wire.Sender},
		{Value: uint8(token), Name: "TOKEN", Len: baseLen, From: wire.Receiver, Grant: true},
		{Value: uint8(data), Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: uint8(ack), Name: "ACK", Len: baseLen, From: wire.Receiver},
		{Value: uint8(gone), Name: "GONE", Len: baseLen, From: wire.Sender},
	},
	Fields: []wire.Field{
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 2, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message", At: 10, Size: 4, In: 1<<token | 1<<data, Role: wire.Offset},
		{Name: "length", Doc: "bytes of the message", At: 6, Size: 4, In: 1 << rts, Role: wire.Length},
		{Name: "length", Doc: "bytes of the message", At: 14, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "sequence", Doc: "number of the token", At: 6, Size: 4, In: 1<<token | 1<<data,
			Role: wire.CreditNumber},
		{Name: "free", Doc: "sent without a token", At: 1, Mask: 1, In: 1 << data, Role: wire.Free},
		{Name: "epoch", Doc: "whose data phase a token is for, modulo 16", At: 1, Mask: 0x0f, In: 1 << token},
		{Name: "priority", Doc: "of a token among those of its sender, 0 the first", At: 1, Mask: 0xf0, In: 1 << token},
		{Name: "channels", Doc: "asked for, offered, matched or taken back", At: 1, Mask: 0x0f, In: ofMatching},
		{Name: "prompt", Doc: "of the channels, those idle until the data phase, or open before it", At: 1, Mask: 0xf0,
			In: 1<<request | 1<<grant | 1<<accept},
		{Name: "round", Doc: "of the matching, since time 0, modulo 2^32", At: 6, Size: 4, In: ofMatching},
		{Name: "remaining", Doc: "packets that the receiver is missing", At: 10, Size: 4,
			In: 1<<request | 1<<grant},
		{Name: "tag", Doc: "the application's", At: 10, Size: 4, In: 1 << rts},
		{Name: "tag", Doc: "the application's", At: 18, Size: 4, In: 1 << data},
		{Name: "above_floor", Doc: aboveFloor, At: 14, Size: 2, In: 1 << rts},
		{Name: "above_floor", Doc: aboveFloor, At: 22, Size: 2, In: 1 << data},
	},
}

const (
	ofMatching = 1<<request | 1<<grant | 1<<accept | 1<<grantsr
	aboveFloor = "id less the lowest one that is not settled; 65535: more than fits"
)

var lengths = layout.Of(&table)

// encode writes h into p.
func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	clear(b[:baseLen])
	b[0] = version<<4 | byte(h.kind)
	binary.BigEndian.PutUint32(b[2:], uint32(h.id))
	p.HeaderLen = baseLen
	word := binary.BigEndian.PutUint32
	switch h.kind {
	case request, grant, accept, grantsr:
		b[1] = h.prompt<<4 | h.channels&15
		word(b[6:], h.round)
		word(b[10:], h.remaining)
	case token:
		b[1] = h.priority<<4 | h.epoch&15
		word(b[6:], h.seq)
		word(b[10:], h.offset)
	case rts:
		word(b[6:], h.length)
		word(b[10:], uint32(h.tag))
		binary.BigEndian.PutUint16(b[14:], h.aboveFloor)
		p.HeaderLen = rtsLen
	case data:
		if h.unscheduled {
			b[1] = 1
		}
		word(b[6:], h.seq)
		word(b[10:], h.offset)
		word(b[14:], h.length)
		word(b[18:], uint32(h.tag))
		binary.BigEndian.PutUint16(b[22:], h.aboveFloor)
		p.HeaderLen = dataLen
	}
}

// decode reads the header that b begins with.
func (h *header) decode(b []byte) error {
	if _, err := lengths.Len(b); err != nil {
		return err
	}
	word := binary.BigEndian.Uint32
	*h = header{kind: kind(b[0] & 15), id: transport.MessageID(word(b[2:]))}
	switch h.kind {
	case request, grant, accept, grantsr:
		h.prompt, h.channels, h.round, h.remaining = b[1]>>4, b[1]&15, word(b[6:]), word(b[10:])
	case token:
		h.priority, h.epoch = b[1]>>4, b[1]&15
		h.seq, h.offset = word(b[6:]), word(b[10:])
	case rts:
		h.length, h.tag = word(b[6:]), transport.Tag(word(b[10:]))
		h.aboveFloor = binary.BigEndian.Uint16(b[14:])
	case data:
		h.unscheduled = b[1] == 1
		h.seq, h.offset = word(b[6:]), word(b[10:])
		h.length, h.tag = word(b[14:]), transport.Tag(word(b[18:]))
		h.aboveFloor = binary.BigEndian.Uint16(b[22:])
	}
	return nil
}
