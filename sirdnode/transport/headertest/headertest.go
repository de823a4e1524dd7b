// Package headertest tests the headers of protocols: that encoding and decoding agree, and that hostile bytes do no
// harm.
package headertest

import (
	"bytes"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
)

// A Codec is how a protocol reads and writes its headers H.
type Codec[H comparable] struct {
	Encode func(*H, *transport.Packet)
	Decode func(*H, []byte) error
	Len    func([]byte) (int, error)
	Table  *wire.Header // the header for captures

	// Equal reports whether two encodings are of the same header; bytes.Equal if nil. It is for headers with bits that
	// are not read.
	Equal func(h H, a, b []byte) bool
}

// RoundTrip encodes and decodes each header. It expects the same header back, its length, that no part of it is taken
// for a header, and that the table for captures has what the protocol reads, where it reads it.
func (c Codec[H]) RoundTrip(t *testing.T, headers []H) {
	c.table(t)
	for _, want := range headers {
		var p transport.Packet
		c.Encode(&want, &p)
		var got H
		if err := c.Decode(&got, p.Header()); err != nil || got != want {
			t.Errorf("decoded %+v (%v), want %+v", got, err, want)
		}
		if n, err := c.Len(p.Header()); err != nil || n != p.HeaderLen {
			t.Errorf("%+v: length %d (%v), want %d", want, n, err, p.HeaderLen)
		}
		c.fields(t, p.Header())
		for n := range p.HeaderLen {
			if c.Decode(&got, p.HeaderBytes[:n]) == nil {
				t.Errorf("%+v: %d of %d bytes are taken for a header", want, n, p.HeaderLen)
			}
		}
	}
}

// Fuzz decodes arbitrary bytes, the given headers among them. What is accepted has to be the same header when it is
// encoded and decoded again, in equal bytes.
func (c Codec[H]) Fuzz(f *testing.F, headers []H) {
	for _, h := range headers {
		var p transport.Packet
		c.Encode(&h, &p)
		f.Add(p.Header())
	}
	equal := c.Equal
	if equal == nil {
		equal = func(_ H, a, b []byte) bool { return bytes.Equal(a, b) }
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again H
		if c.Decode(&h, b) != nil {
			return
		}
		var p transport.Packet
		c.Encode(&h, &p)
		n, err := c.Len(b)
		if err != nil || n != p.HeaderLen {
			t.Fatalf("%x: length %d (%v), want %d", b, n, err, p.HeaderLen)
		}
		if err := c.Decode(&again, p.Header()); err != nil || again != h || !equal(h, p.Header(), b[:n]) {
			t.Fatalf("%x decoded as %+v, encoded as %x, decoded as %+v (%v)", b, h, p.Header(), again, err)
		}
		if kind := c.Table.Type(b); kind == nil || c.Table.Len(kind, b) != n || len(c.Table.Values(b[:n])) == 0 {
			t.Fatalf("%x: the table has the type %+v, want one with a header of %d bytes", b, kind, n)
		}
	})
}
