//go:build linux

package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"sirdbed/sirdnode/transport"
	"sirdbed/traffic"
)

// A frame precedes a message's payload on a connection, and on its own it is the
// message's acknowledgement:
//
//	0  magic "sT"     2  version   3  kind
//	4  source host    6  destination host
//	8  message id    12  tag
//	16 size of the message                 (64 bits)
//	24 CRC32C of all before it
//
// Numbers are big endian. An acknowledgement repeats the message's frame with
// another kind: its source is still the source of the message.
type frame struct {
	kind     uint8
	src, dst uint16
	id, tag  uint32
	size     uint64
}

// The kinds of frame.
const (
	kindMessage uint8 = 1
	kindAck     uint8 = 2
)

const (
	frameLen     = 28
	frameMagic   = 0x7354 // "sT"
	frameVersion = 1
)

// errNotFrame is wrapped by every error of decode: what was read was not written by
// this package, so it is unknown where the next frame begins.
var errNotFrame = errors.New("not a frame")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f *frame) encode(b *[frameLen]byte) {
	binary.BigEndian.PutUint16(b[0:], frameMagic)
	b[2], b[3] = frameVersion, f.kind
	binary.BigEndian.PutUint16(b[4:], f.src)
	binary.BigEndian.PutUint16(b[6:], f.dst)
	binary.BigEndian.PutUint32(b[8:], f.id)
	binary.BigEndian.PutUint32(b[12:], f.tag)
	binary.BigEndian.PutUint64(b[16:], f.size)
	binary.BigEndian.PutUint32(b[24:], crc32.Checksum(b[:24], castagnoli))
}

func (f *frame) decode(b *[frameLen]byte) error {
	if got := binary.BigEndian.Uint16(b[0:]); got != frameMagic {
		return fmt.Errorf("%w: begins with %#04x", errNotFrame, got)
	}
	if b[2] != frameVersion {
		return fmt.Errorf("%w: version %d, not %d", errNotFrame, b[2], frameVersion)
	}
	if binary.BigEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli) {
		return fmt.Errorf("%w: checksum mismatch", errNotFrame)
	}
	*f = frame{
		kind: b[3],
		src:  binary.BigEndian.Uint16(b[4:]), dst: binary.BigEndian.Uint16(b[6:]),
		id: binary.BigEndian.Uint32(b[8:]), tag: binary.BigEndian.Uint32(b[12:]),
		size: binary.BigEndian.Uint64(b[16:]),
	}
	switch {
	case f.kind != kindMessage && f.kind != kindAck:
		return fmt.Errorf("%w: kind %d", errNotFrame, f.kind)
	case f.size < 1 || f.size > uint64(traffic.MaxSize):
		return fmt.Errorf("%w: message of %d bytes", errNotFrame, f.size)
	}
	return nil
}

// frameOf returns the frame of a message from self.
func frameOf(self transport.HostID, m transport.Message) frame {
	return frame{
		kind: kindMessage, src: uint16(self), dst: uint16(m.Peer),
		id: uint32(m.ID), tag: uint32(m.Tag), size: uint64(m.Size),
	}
}

// message returns the message of a frame, with the given host at its other end.
func (f *frame) message(peer transport.HostID) transport.Message {
	return transport.Message{
		ID: transport.MessageID(f.id), Tag: transport.Tag(f.tag), Peer: peer, Size: transport.Bytes(f.size),
	}
}
