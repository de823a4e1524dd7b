package layer

import (
	"slices"
	"testing"

	"github.com/google/gopacket"

	"sirdbed/sirdnode/wire"
)

const (
	testPort   = 47999
	testHeader = 14
)

func init() {
	Register(wire.Protocol{
		Name: "TEST", Port: testPort,
		HeaderLen: func(b []byte) (int, error) {
			if len(b) < testHeader {
				return 0, wire.ErrTruncated
			}
			return testHeader, nil
		},
		Header: &wire.Header{
			Types:  []wire.Type{{Value: 'A', Name: "A", Len: testHeader}},
			Fields: []wire.Field{{Name: "second", At: 1}},
		},
	})
}

// sample is a frame with 40 bytes of payload.
func sample() []byte {
	f := wire.Frame{
		SrcAddr: [4]byte{10, 0, 1, 1}, DstAddr: [4]byte{10, 3, 2, 7},
		Entropy: 51234, Port: testPort, ID: 77, Priority: 5, ECN: wire.ECT,
		Header: []byte("A header 14 by"), Payload: make([]byte, 40),
	}
	buf := make([]byte, f.Len())
	return buf[:f.Encode(buf)]
}

func TestGopacketDecodes(t *testing.T) {
	frame := sample()
	p := Decode(frame, gopacket.Default)
	if e := p.ErrorLayer(); e != nil {
		t.Fatal(e.Error())
	}
	var names []string
	for _, l := range p.Layers() {
		names = append(names, l.LayerType().String())
	}
	want := []string{"Ethernet", "IPv4", "UDP", "TEST", "Payload"}
	if !slices.Equal(names, want) {
		t.Fatalf("layers %v, want %v", names, want)
	}
	l := p.Layers()[3].(*Transport)
	if l.Protocol.Name != "TEST" || l.Protocol.Header.Values(l.Bytes())[0].N != ' ' ||
		[4]byte(frame[wire.HeaderOffset-wire.CRCLen:]) != l.CRC ||
		len(p.ApplicationLayer().Payload()) != 40 {
		t.Errorf("%+v", l)
	}
}

// A frame that is cut short, anywhere, is decoded as far as it goes.
func TestCutFrames(t *testing.T) {
	frame := sample()
	for n := range frame {
		for _, l := range Decode(frame[:n], gopacket.Default).Layers() {
			if _, ok := l.(*Transport); ok && n < wire.HeaderOffset+testHeader {
				t.Errorf("%d bytes have a transport header", n)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, l := range Decode(b, gopacket.Default).Layers() {
			if x, ok := l.(*Transport); ok && len(x.Contents) != wire.CRCLen+testHeader {
				t.Errorf("a header of %d bytes", len(x.Contents))
			}
		}
	})
}
