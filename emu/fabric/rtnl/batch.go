//go:build linux

package rtnl

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A Batch is a list of netlink requests, sent in order by Conn.Do. The zero
// value is empty and ready; Reset makes it so again and keeps the memory. A
// Batch is for one goroutine.
type Batch struct {
	buf      []byte
	requests []request
}

// request is where a message begins in buf, and what it is for, in words.
type request struct {
	start      int
	op, device string
}

// Reset empties the batch.
func (b *Batch) Reset() { b.buf, b.requests = b.buf[:0], b.requests[:0] }

// Len is the number of requests.
func (b *Batch) Len() int { return len(b.requests) }

// Request begins a request. op and device are for errors. body is the fixed
// part of the message, which the request's type decides; attributes follow by
// the methods below.
func (b *Batch) Request(op, device string, typ, flags uint16, body []byte) {
	b.requests = append(b.requests, request{len(b.buf), op, device})
	var h [unix.SizeofNlMsghdr]byte
	binary.NativeEndian.PutUint16(h[4:], typ)
	binary.NativeEndian.PutUint16(h[6:], flags|unix.NLM_F_REQUEST)
	b.buf = append(append(b.buf, h[:]...), body...)
	b.pad()
}

// Attr adds an attribute with a raw value.
func (b *Batch) Attr(typ uint16, value []byte) {
	b.header(typ, len(value))
	b.buf = append(b.buf, value...)
	b.pad()
}

// String adds a zero-terminated string.
func (b *Batch) String(typ uint16, s string) {
	b.header(typ, len(s)+1)
	b.buf = append(append(b.buf, s...), 0)
	b.pad()
}

// Uint8 adds an 8-bit attribute.
func (b *Batch) Uint8(typ uint16, v uint8) { b.Attr(typ, []byte{v}) }

// Uint32 adds a 32-bit attribute in the machine's byte order.
func (b *Batch) Uint32(typ uint16, v uint32) {
	b.Attr(typ, binary.NativeEndian.AppendUint32(nil, v))
}

// Uint64 adds a 64-bit attribute in the machine's byte order.
func (b *Batch) Uint64(typ uint16, v uint64) {
	b.Attr(typ, binary.NativeEndian.AppendUint64(nil, v))
}

// Nest adds an attribute whose value is what inside adds, after a fixed part
// that may be empty.
func (b *Batch) Nest(typ uint16, fixed []byte, inside func()) {
	start := len(b.buf)
	b.header(typ, 0)
	b.buf = append(b.buf, fixed...)
	b.pad()
	inside()
	binary.NativeEndian.PutUint16(b.buf[start:], uint16(len(b.buf)-start))
}

// Append adds bytes of a format of their own (the next hops of a route) to the
// attribute being nested.
func (b *Batch) Append(raw []byte) { b.buf = append(b.buf, raw...); b.pad() }

func (b *Batch) header(typ uint16, n int) {
	b.buf = binary.NativeEndian.AppendUint16(b.buf, uint16(unix.SizeofRtAttr+n))
	b.buf = binary.NativeEndian.AppendUint16(b.buf, typ)
}

// pad aligns the message's end. Messages start aligned, so the buffer's length
// tells.
func (b *Batch) pad() {
	for len(b.buf)%unix.NLMSG_ALIGNTO != 0 {
		b.buf = append(b.buf, 0)
	}
}

// message returns the i-th request's bytes.
func (b *Batch) message(i int) []byte {
	end := len(b.buf)
	if i+1 < len(b.requests) {
		end = b.requests[i+1].start
	}
	return b.buf[b.requests[i].start:end]
}

// next returns how many requests from the i-th on fit a chunk of limit bytes,
// at least 1, and numbers them seq, seq+1 and so on. Only the last asks for an
// acknowledgement; the kernel reports errors of all.
func (b *Batch) next(i, limit int, seq uint32) (n int, chunk []byte) {
	start := b.requests[i].start
	end := start
	for i+n < len(b.requests) {
		m := b.message(i + n)
		if n > 0 && end+len(m)-start > limit {
			break
		}
		binary.NativeEndian.PutUint32(m[0:], uint32(len(m)))
		binary.NativeEndian.PutUint32(m[8:], seq+uint32(n))
		end += len(m)
		n++
	}
	last := b.message(i + n - 1)
	flags := binary.NativeEndian.Uint16(last[6:])
	binary.NativeEndian.PutUint16(last[6:], flags|unix.NLM_F_ACK)
	return n, b.buf[start:end]
}
