// Package layout describes the headers of protocols: their lengths by type, and
// how much of a packet they leave for payload.
package layout

import (
	"errors"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// Errors of Headers.Len, beside wire.ErrTruncated.
var (
	ErrVersion = errors.New("transport header of an unknown version")
	ErrKind    = errors.New("transport header of an unknown type")
)

// Headers are the lengths of a protocol's headers, whose first byte is a version
// and a type, of 4 bits each.
type Headers struct {
	Version uint8
	Lengths [16]int // by type, in bytes; 0: there is no such type
}

// Of returns the lengths that a table of headers states.
func Of(table *wire.Header) (l Headers) {
	l.Version = table.Version
	for _, t := range table.Types {
		l.Lengths[t.Value] = t.Len
	}
	return l
}

// Len returns the length of the header that b begins with.
func (l *Headers) Len(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, wire.ErrTruncated
	}
	if b[0]>>4 != l.Version {
		return 0, ErrVersion
	}
	n := l.Lengths[b[0]&15]
	if n == 0 {
		return 0, ErrKind
	}
	if len(b) < n {
		return 0, wire.ErrTruncated
	}
	return n, nil
}

// Framing returns the Framing function of a protocol whose data packets have a
// header of the given length. Every MTU that topo allows has room for payload
// beside transport.MaxHeader.
func Framing(header transport.Bytes) func(mtu transport.Bytes) topo.Framing {
	return func(mtu transport.Bytes) topo.Framing {
		return topo.Framing{MSS: wire.MSS(mtu, int(header)), Overhead: wire.IPOverhead + header}
	}
}

// MaxMessage is the largest message that a header with 32 bits for its length
// can describe.
const MaxMessage transport.Bytes = 1<<32 - 1
