package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

const (
	testPort   = 47999
	testHeader = 14
)

func testLen(b []byte) (int, error) {
	if len(b) < testHeader {
		return 0, ErrTruncated
	}
	return testHeader, nil
}

func sample(payload int) *Frame {
	return &Frame{
		SrcMAC: [6]byte{2, 0, 10, 0, 1, 1}, DstMAC: [6]byte{2, 3, 10, 251, 0, 1},
		SrcAddr: [4]byte{10, 0, 1, 1}, DstAddr: [4]byte{10, 3, 2, 7},
		Entropy: 51234, Port: testPort, ID: 77, Priority: 5, ECN: ECT, Credit: true,
		Header: []byte("A header 14 by"), Payload: bytes.Repeat([]byte{0x5a}, payload),
	}
}

func encode(t *testing.T, f *Frame) []byte {
	t.Helper()
	buf := make([]byte, f.Len()+10)
	return buf[:f.Encode(buf)]
}

func TestRoundTripWithPadding(t *testing.T) {
	for _, n := range []int{0, 1, 100, 8942} {
		want := sample(n)
		b := append(encode(t, want), 0, 0, 0, 0)
		var got Frame
		if err := got.Decode(b, testHeader, testLen); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Header, want.Header) || !bytes.Equal(got.Payload, want.Payload) {
			t.Fatalf("%d bytes of payload: %q %d", n, got.Header, len(got.Payload))
		}
		got.Header, got.Payload, want.Header, want.Payload = nil, nil, nil, nil
		if got.SrcAddr != want.SrcAddr || got.DstAddr != want.DstAddr || got.SrcMAC != want.SrcMAC ||
			got.DstMAC != want.DstMAC ||
			got.Entropy != want.Entropy || got.Port != want.Port || got.ID != want.ID ||
			got.Priority != want.Priority ||
			got.ECN != want.ECN || got.Credit != want.Credit {
			t.Fatalf("%+v, want %+v", got, *want)
		}
	}
}

// A packet of 14 header bytes and no payload is Ethernet's smallest.
func TestSmallestPacketIs84BytesOnTheWire(t *testing.T) {
	if got := WireLen(testHeader, 0); got != 84 {
		t.Errorf("%d", got)
	}
	if got := WireLen(26, int(MSS(1500, 26))); got != 1538 {
		t.Errorf("%d", got)
	}
}

// Any single flipped bit behind the Ethernet header is found.
func TestEveryBitFlipIsFound(t *testing.T) {
	b := encode(t, sample(40))
	for bit := EthernetLen * 8; bit < len(b)*8; bit++ {
		b[bit/8] ^= 1 << (bit % 8)
		var f Frame
		if err := f.Decode(b, testHeader, testLen); err == nil {
			t.Errorf("bit %d of byte %d: not found", bit%8, bit/8)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

// A switch sets CE, decrements TTL and mends the IP checksum: the frame stays
// valid.
func TestSwitchesMayMark(t *testing.T) {
	b := encode(t, sample(40))
	ip := b[EthernetLen:]
	ip[1] |= uint8(CE)
	ip[8] -= 2
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], ^ipSum(ip))
	var f Frame
	if err := f.Decode(b, testHeader, testLen); err != nil || f.ECN != CE {
		t.Fatalf("%v, ECN %d", err, f.ECN)
	}
}

func TestTruncatedFrames(t *testing.T) {
	b := encode(t, sample(40))
	for n := range len(b) {
		var f Frame
		if err := f.Decode(b[:n], testHeader, testLen); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNotOurs) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func TestCodecDoesNotAllocate(t *testing.T) {
	f := sample(1000)
	buf := make([]byte, 2000)
	var g Frame
	if n := testing.AllocsPerRun(100, func() {
		n := f.Encode(buf)
		if g.Decode(buf[:n], testHeader, testLen) != nil {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	full := sample(40)
	buf := make([]byte, full.Len())
	f.Add(buf[:full.Encode(buf)])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var fr Frame
		if fr.Decode(b, testHeader, testLen) == nil {
			out := make([]byte, fr.Len())
			var again Frame
			if err := again.Decode(out[:fr.Encode(out)], testHeader, testLen); err != nil {
				t.Fatalf("accepted, re-encoded, refused: %v", err)
			}
		}
		DestinationPort(b)
	})
}

func BenchmarkEncodeDecode9000(b *testing.B) {
	f := sample(8942)
	buf := make([]byte, 9100)
	var g Frame
	b.SetBytes(9000)
	b.ReportAllocs()
	for b.Loop() {
		n := f.Encode(buf)
		if err := g.Decode(buf[:n], testHeader, testLen); err != nil {
			b.Fatal(err)
		}
	}
}
