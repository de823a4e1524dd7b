package aimd

import (
	"testing"

	"sirdbed/sirdnode/transport/headertest"
)

var headers = []header{
	{kind: data, id: 7, offset: 1436, length: 10_000_000, tag: 1<<31 | 5},
	{kind: ack, marked: true, id: 1<<32 - 1, offset: 2872},
}

var codec = headertest.Codec[header]{
	Encode: (*header).encode, Decode: (*header).decode, Len: headerLen, Table: &table,
	// The second byte is read as marked or not.
	Equal: func(_ header, a, b []byte) bool { return string(a[2:]) == string(b[2:]) },
}

func TestHeaderRoundTrip(t *testing.T) { codec.RoundTrip(t, headers) }

func FuzzHeader(f *testing.F) { codec.Fuzz(f, headers) }
