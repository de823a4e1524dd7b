package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Sizes in pcapng's block format.
const (
	blockHead     = 8  // type, length
	blockTail     = 4  // length again
	packetHead    = 20 // of an enhanced packet block, behind blockHead
	maxBlock      = 1 << 20
	typeSection   = 0x0a0d0d0a
	typePacket    = 6
	typeStats     = 5
	byteOrderMark = 0x1a2b3c4d
)

// ErrCaptureCut is wrapped by the error of a capture that ends in the middle of
// a packet, or before its writer closed it. What comes before is good.
var ErrCaptureCut = errors.New("capture was cut off")

// blocks reads a pcapng file in whole blocks and checks each before passing it
// on: gopacket's reader takes a file that ends in the middle of a block for
// complete, and trusts the lengths it finds.
type blocks struct {
	in      *bufio.Reader
	block   []byte // the current one
	at      int    // how much of it was passed on
	offset  int64  // of the end of the current block in the file
	ended   bool   // interface statistics were seen: the writer was done
	started bool
	foreign bool // another program's, which need not end with statistics
}

func newBlocks(r io.Reader) *blocks { return &blocks{in: bufio.NewReaderSize(r, 64<<10)} }

// Read implements io.Reader.
func (b *blocks) Read(p []byte) (int, error) {
	if b.at == len(b.block) {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.block[b.at:])
	b.at += n
	return n, nil
}

func (b *blocks) next() error {
	var head [blockHead]byte
	n, err := io.ReadFull(b.in, head[:])
	switch {
	case err == io.EOF && (b.ended || b.foreign):
		return io.EOF
	case err == io.EOF:
		return fmt.Errorf("%w after %d bytes, or saved by a program that leaves out the counts at its end",
			ErrCaptureCut, b.offset)
	case err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%w after %d bytes", ErrCaptureCut, b.offset+int64(n))
	case err != nil:
		return err
	}
	kind, length := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if !b.started && kind != typeSection {
		return errors.New("not a pcapng capture")
	}
	b.started = true
	if length < blockHead+blockTail || length%4 != 0 || length > maxBlock {
		return fmt.Errorf("capture is damaged at byte %d: a block of %d bytes", b.offset, length)
	}
	b.block, b.at = append(b.block[:0], head[:]...), 0
	if cap(b.block) < int(length) {
		b.block = append(make([]byte, 0, max(4096, length)), b.block...)
	}
	b.block = b.block[:length]
	if _, err := io.ReadFull(b.in, b.block[blockHead:]); err != nil {
		b.block = b.block[:0]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("%w in the block at byte %d", ErrCaptureCut, b.offset)
		}
		return err
	}
	if err := check(kind, b.block); err != nil {
		err = fmt.Errorf("capture is damaged at byte %d: %w", b.offset, err)
		b.block = b.block[:0]
		return err
	}
	if kind == typeSection {
		b.foreign = !bytes.Contains(b.block, []byte(application))
	}
	b.offset += int64(length)
	b.ended = kind == typeStats
	return nil
}

func check(kind uint32, block []byte) error {
	length := uint32(len(block))
	if binary.LittleEndian.Uint32(block[length-blockTail:]) != length {
		return errors.New("a block's two lengths differ")
	}
	switch kind {
	case typeSection:
		if length < 28 || binary.LittleEndian.Uint32(block[blockHead:]) != byteOrderMark {
			return errors.New("not a little-endian section")
		}
	case typePacket:
		if length < blockHead+packetHead+blockTail {
			return fmt.Errorf("a packet block of %d bytes", length)
		}
		if kept := binary.LittleEndian.Uint32(block[blockHead+12:]); kept > length-blockHead-packetHead-blockTail {
			return fmt.Errorf("a packet of %d bytes in a block of %d", kept, length)
		}
	}
	return nil
}
