package broker

import "math/bits"

// Bytes of messages lie in pieces that are used again and again: the process of a host
// in a guest collects no garbage. A message of up to chunkSize bytes is one piece of a
// power of two, a longer one pieces of chunkSize.
const (
	chunkShift = 16
	chunkSize  = 1 << chunkShift
	leastShift = 6
)

// A pool has the pieces that are free. Each lasts as long as the host.
type pool struct {
	free [chunkShift + 1][][]byte // by the logarithm of the size
}

// A content is the bytes of a message, header included.
type content struct {
	size   int
	pieces [][]byte
}

func shiftOf(n int) int { return max(leastShift, bits.Len(uint(max(n, 1)-1))) }

func (p *pool) piece(n int) []byte {
	shift := shiftOf(n)
	list := p.free[shift]
	if len(list) == 0 {
		return make([]byte, 1<<shift)
	}
	piece := list[len(list)-1]
	p.free[shift] = list[:len(list)-1]
	return piece
}

// take returns room for size bytes, with whatever was in there before.
func (p *pool) take(size int) *content {
	b := &content{size: size, pieces: make([][]byte, 0, 1+size>>chunkShift)}
	for left := size; left > 0 || len(b.pieces) == 0; left -= chunkSize {
		b.pieces = append(b.pieces, p.piece(min(left, chunkSize)))
	}
	return b
}

// give takes the room back.
func (p *pool) give(b *content) {
	if b == nil {
		return
	}
	for _, piece := range b.pieces {
		shift := shiftOf(len(piece))
		p.free[shift] = append(p.free[shift], piece)
	}
	b.pieces, b.size = nil, 0
}

// chunk returns the bytes from at on, up to the end of their piece or of the message.
func (b *content) chunk(at int) []byte {
	if at >= b.size {
		return nil
	}
	piece := b.pieces[at>>chunkShift]
	from := at & (chunkSize - 1)
	return piece[from:min(len(piece), from+b.size-at)]
}

// write puts data at a place, as far as there is room.
func (b *content) write(at int, data []byte) {
	for len(data) > 0 && at < b.size {
		n := copy(b.chunk(at), data)
		data, at = data[n:], at+n
	}
}

// read fills buf from a place on, with zeros behind the end.
func (b *content) read(at int, buf []byte) {
	for len(buf) > 0 && at < b.size {
		n := copy(buf, b.chunk(at))
		buf, at = buf[n:], at+n
	}
	clear(buf)
}
