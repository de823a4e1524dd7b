package aimd

import (
	"encoding/binary"
	"errors"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
)

// Both packet types begin with kind (1), mark echo (1), message id (4) and offset
// (4), in bytes. DATA continues with message length (4) and tag (4). An ACK has the
// offset of the DATA packet that it answers, which shows what bytes have arrived.
const (
	data = 1
	ack  = 2

	ackLen  = 10
	dataLen = 18
)

// table is the header for captures.
var table = wire.Header{
	Types: []wire.Type{
		{Value: data, Name: "DATA", Len: dataLen, From: wire.Sender, Data: true},
		{Value: ack, Name: "ACK", Len: ackLen, From: wire.Receiver},
	},
	Fields: []wire.Field{
		{Name: "message", Doc: "id among those of this ordered pair of hosts", At: 2, Size: 4, Role: wire.Message},
		{Name: "offset", Doc: "first byte in the message, of the DATA that an ACK answers", At: 6, Size: 4,
			Role: wire.Offset},
		{Name: "length", Doc: "bytes of the message", At: 10, Size: 4, In: 1 << data, Role: wire.Length},
		{Name: "marked", Doc: "the packet that is acknowledged was marked", At: 1, Mask: 1, In: 1 << ack,
			Role: wire.Echo},
		{Name: "tag", Doc: "the application's", At: 14, Size: 4, In: 1 << data},
	},
}

type header struct {
	kind   uint8
	marked bool
	id     transport.MessageID
	offset uint32
	length uint32
	tag    transport.Tag
}

var errKind = errors.New("AIMD header of an unknown type")

func headerLen(b []byte) (int, error) {
	if len(b) < ackLen {
		return 0, wire.ErrTruncated
	}
	switch {
	case b[0] == ack:
		return ackLen, nil
	case b[0] != data:
		return 0, errKind
	case len(b) < dataLen:
		return 0, wire.ErrTruncated
	}
	return dataLen, nil
}

func (h *header) encode(p *transport.Packet) {
	b := p.HeaderBytes[:]
	b[0], b[1] = h.kind, 0
	if h.marked {
		b[1] = 1
	}
	binary.BigEndian.PutUint32(b[2:], uint32(h.id))
	binary.BigEndian.PutUint32(b[6:], h.offset)
	p.HeaderLen = ackLen
	if h.kind == data {
		binary.BigEndian.PutUint32(b[10:], h.length)
		binary.BigEndian.PutUint32(b[14:], uint32(h.tag))
		p.HeaderLen = dataLen
	}
}

func (h *header) decode(b []byte) error {
	if _, err := headerLen(b); err != nil {
		return err
	}
	*h = header{
		kind: b[0], marked: b[1] == 1,
		id: transport.MessageID(binary.BigEndian.Uint32(b[2:])), offset: binary.BigEndian.Uint32(b[6:]),
	}
	if h.kind == data {
		h.length = binary.BigEndian.Uint32(b[10:])
		h.tag = transport.Tag(binary.BigEndian.Uint32(b[14:]))
	}
	return nil
}
