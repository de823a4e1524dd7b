package layout

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
)

func TestLayoutTellsLengthOrWhatIsWrong(t *testing.T) {
	l := Headers{Version: 2, Lengths: [16]int{1: 4, 15: 6}}
	for _, c := range []struct {
		b   []byte
		n   int
		err error
	}{
		{nil, 0, wire.ErrTruncated},
		{[]byte{0x21, 0, 0}, 0, wire.ErrTruncated},
		{[]byte{0x21, 0, 0, 0}, 4, nil},
		{[]byte{0x21, 0, 0, 0, 0, 0, 0}, 4, nil},
		{[]byte{0x2f, 0, 0, 0, 0}, 0, wire.ErrTruncated},
		{[]byte{0x2f, 0, 0, 0, 0, 0}, 6, nil},
		{[]byte{0x20, 0, 0, 0, 0, 0}, 0, ErrKind},
		{[]byte{0x22, 0, 0, 0, 0, 0}, 0, ErrKind},
		{[]byte{0x11, 0, 0, 0}, 0, ErrVersion},
	} {
		if n, err := l.Len(c.b); n != c.n || err != c.err {
			t.Errorf("% x: %d (%v), want %d (%v)", c.b, n, err, c.n, c.err)
		}
	}
}

// Payload and headers fill the MTU.
func TestFramingFillsTheMTU(t *testing.T) {
	fr := Framing(26)(1500)
	if fr.MSS != 1442 || fr.MSS+fr.Overhead != 1500 || fr.Wire(fr.MSS) != 1538 {
		t.Errorf("got %+v, want 1442 of payload in an MTU of 1500, 1538 on the wire", fr)
	}
	for n, want := range map[transport.Bytes]transport.Bytes{0: 0, 1: 97, 1442: 1538, 1443: 1538 + 97, 2884: 2 * 1538} {
		if got := fr.WireOf(n); got != want {
			t.Errorf("%d bytes take %d, want %d", n, got, want)
		}
	}
}
