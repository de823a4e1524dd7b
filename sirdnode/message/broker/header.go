package broker

import (
	"encoding/binary"
	"hash/crc32"

	"sirdbed/sirdnode/message/frame"
)

// A message of a program begins, on the fabric, with a header that its program does not
// see:
//
//	byte 0       kind
//	byte 1       code of a receipt
//	bytes 2-3    service, 0 in what answers
//	bytes 4-7    id of the message at its sender, or of what is answered
//	bytes 8-11   length of the data
//	bytes 12-15  CRC32C of the data
const headerLen = 16

// kind is what a message of the fabric carries.
type kind uint8

const (
	kindMessage    kind = 1 // answered by a receipt
	kindRequest    kind = 2 // answered by a reply, or a receipt
	kindReply      kind = 3
	kindReceipt    kind = 4
	kindWithdrawal kind = 5 // the sender gave the message up that had the id, by its number for the transport
)

type header struct {
	kind    kind
	code    frame.Code
	service uint16
	id      uint32
	length  uint32
	crc     uint32
}

func (h *header) put(b []byte) {
	b[0], b[1] = byte(h.kind), byte(h.code)
	binary.BigEndian.PutUint16(b[2:], h.service)
	binary.BigEndian.PutUint32(b[4:], h.id)
	binary.BigEndian.PutUint32(b[8:], h.length)
	binary.BigEndian.PutUint32(b[12:], h.crc)
}

// parse reads the header of what has arrived whole, and checks it against the data.
func (b *content) parse() (h header, ok bool) {
	if b.size < headerLen {
		return h, false
	}
	p := b.chunk(0)
	h = header{kind(p[0]), frame.Code(p[1]), binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:]),
		binary.BigEndian.Uint32(p[8:]), binary.BigEndian.Uint32(p[12:])}
	return h, h.kind >= kindMessage && h.kind <= kindWithdrawal && int(h.length) == b.size-headerLen && h.crc == b.crc()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc is that of all data behind the header.
func (b *content) crc() (sum uint32) {
	for at := headerLen; at < b.size; {
		part := b.chunk(at)
		sum = crc32.Update(sum, castagnoli, part)
		at += len(part)
	}
	return sum
}
