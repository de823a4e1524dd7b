//go:build linux

package rtnl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// What a batch writes, the walkers read.
func TestBatchRoundTrip(t *testing.T) {
	var b Batch
	for range 2 { // and again after Reset
		b.Reset()
		b.Request("add", "x", unix.RTM_NEWLINK, unix.NLM_F_CREATE, Link(7, 1, 1))
		b.String(3, "leaf1")
		b.Nest(18, nil, func() {
			b.Uint8(1, 9)
			b.Nest(2, []byte{1, 2, 3}, func() { b.Uint64(5, 1<<40) })
		})
		b.Request("del", "y", unix.RTM_DELLINK, 0, Link(8, 0, 0))
	}
	n, chunk := b.next(0, chunkBytes, 100)
	if n != 2 || b.Len() != 2 {
		t.Fatalf("%d of %d requests in the chunk, want 2 of 2", n, b.Len())
	}
	var seen []uint16
	err := eachMessage(chunk, func(typ, flags uint16, seq uint32, body []byte) error {
		if seq != 100+uint32(len(seen)) || flags&unix.NLM_F_REQUEST == 0 ||
			flags&unix.NLM_F_ACK != 0 != (typ == unix.RTM_DELLINK) {
			t.Errorf("message %d: sequence %d, flags %#x; want %d, a request, and an acknowledgement of the last",
				typ, seq, flags, 100+len(seen))
		}
		seen = append(seen, typ)
		if typ == unix.RTM_DELLINK {
			return nil
		}
		attrs := body[unix.SizeofIfInfomsg:]
		if name := Find(attrs, 3); string(name) != "leaf1\x00" {
			t.Errorf("name %q, want leaf1", name)
		}
		nest := Find(attrs, 18)
		inner := Find(nest, 2)
		if v := Find(nest, 1); len(v) != 1 || v[0] != 9 || !bytes.Equal(inner[:3], []byte{1, 2, 3}) {
			t.Errorf("nest %x, want a byte 9 and a nest after 1, 2, 3", nest)
		}
		if v := Find(inner[4:], 5); binary.NativeEndian.Uint64(v) != 1<<40 {
			t.Errorf("inner %x, want %d", inner, uint64(1<<40))
		}
		return nil
	})
	if err != nil || len(seen) != 2 {
		t.Errorf("got messages %v and the error %v, want 2 and none", seen, err)
	}
}

// Requests of a chunk stay whole, and each chunk asks for one acknowledgement.
func TestChunks(t *testing.T) {
	var b Batch
	const requests, limit = 50, 256
	for range requests {
		b.Request("add", "", unix.RTM_NEWROUTE, 0, Route(8, 0))
		b.Attr(1, make([]byte, 40))
	}
	chunks := 0
	for i := 0; i < requests; chunks++ {
		n, chunk := b.next(i, limit, uint32(i))
		acks := 0
		err := eachMessage(chunk, func(_, flags uint16, _ uint32, _ []byte) error {
			if flags&unix.NLM_F_ACK != 0 {
				acks++
			}
			return nil
		})
		if err != nil || acks != 1 || len(chunk) > limit || n == 0 {
			t.Fatalf("chunk of %d requests, %d bytes, %d acknowledgements (%v); want some, at most %d, and 1",
				n, len(chunk), acks, err, limit)
		}
		i += n
	}
	if chunks < 2 {
		t.Errorf("%d chunks, want several", chunks)
	}
}

// The failure that is reported is the first, with the kernel's words.
func TestErrorsNameTheirRequest(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const nowhere = 1 << 30 // no such interface
	var b Batch
	b.Request("first", "a", unix.RTM_GETLINK, 0, Link(1, 0, 0))
	b.Request("second", "b", unix.RTM_GETLINK, 0, Link(nowhere, 0, 0))
	b.Request("third", "c", unix.RTM_GETLINK, 0, Link(nowhere, 0, 0))
	err = c.Do(&b)
	var op *OpError
	if !errors.As(err, &op) || op.Op != "second" || op.Device != "b" || !errors.Is(err, unix.ENODEV) {
		t.Errorf("got %v, want that of the second request: %v", err, unix.ENODEV)
	}
	// The connection is still good.
	links := 0
	err = c.Dump("dump links", unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg),
		func(uint16, []byte) error { links++; return nil })
	if err != nil || links == 0 {
		t.Errorf("%d links and the error %v, want some and none", links, err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := c.Do(&b); !errors.Is(err, unix.EBADF) {
		t.Errorf("closed: got %v, want %v", err, unix.EBADF)
	}
}

// Nothing that a kernel could send makes the walkers fail.
func FuzzWalkers(f *testing.F) {
	var b Batch
	b.Request("add", "", unix.RTM_NEWLINK, 0, Link(7, 1, 1))
	b.Nest(18, nil, func() { b.Uint32(1, 9) })
	_, chunk := b.next(0, chunkBytes, 1)
	f.Add(chunk)
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = eachMessage(data, func(_, _ uint16, _ uint32, body []byte) error {
			_, _ = errnoOf(body), reasonOf(body)
			return nil
		})
		Find(Find(data, 18), 1)
	})
}
