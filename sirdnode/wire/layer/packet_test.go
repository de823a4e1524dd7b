package layer

import (
	"encoding/binary"
	"testing"

	"sirdbed/sirdnode/wire"
)

// segment is a segment of TCP with ACK and PSH, of which 100 bytes are payload.
func segment() []byte {
	b := make([]byte, 14+20+20+100)
	b[12], b[13] = 0x08, 0x00
	ip := b[14:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, 0x20|byte(wire.CE), 64, 6
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], []byte{10, 250, 1, 1, 10, 250, 1, 2})
	tcp := ip[20:]
	binary.BigEndian.PutUint16(tcp[0:], 40000)
	binary.BigEndian.PutUint16(tcp[2:], 80)
	binary.BigEndian.PutUint32(tcp[4:], 7)
	binary.BigEndian.PutUint32(tcp[8:], 9)
	tcp[12], tcp[13] = 5<<4, 0x18
	return b
}

func TestReadTellsWhatAFrameCarries(t *testing.T) {
	ours := Read(sample())
	if ours.Kind != Ours || ours.Name != "TEST" || ours.Protocol.Port != testPort || len(ours.Header) != testHeader ||
		ours.Payload != 40 || ours.Priority != 5 || ours.ECN != wire.ECT || ours.Src != [4]byte{10, 0, 1, 1} ||
		ours.DstPort != testPort {
		t.Errorf("one of ours: %+v", ours)
	}
	tcp := Read(segment())
	if tcp.Kind != TCP || tcp.Payload != 100 || tcp.SrcPort != 40000 || tcp.DstPort != 80 || tcp.Seq != 7 ||
		tcp.Ack != 9 || tcp.Flags != "PSH ACK" || tcp.ECN != wire.CE || tcp.Priority != 1 {
		t.Errorf("a segment: %+v", tcp)
	}
	other := sample()
	binary.BigEndian.PutUint16(other[14+20+2:], 9)
	if p := Read(other); p.Kind != OtherIPv4 || p.Name != "UDP" || p.DstPort != 9 {
		t.Errorf("another's UDP: %+v", p)
	}
	arp := make([]byte, 60)
	arp[12], arp[13] = 0x08, 0x06
	if p := Read(arp); p.Kind != Other || p.Name != "ARP" {
		t.Errorf("ARP: %+v", p)
	}
	if p := Read(nil); p.Kind != Other || p.Name == "" {
		t.Errorf("nothing: %+v", p)
	}
}

// Of a frame that was not kept whole, lengths are those of the whole.
func TestReadOfWhatWasKept(t *testing.T) {
	for _, frame := range [][]byte{sample(), segment()} {
		whole := Read(frame)
		cut := Read(frame[:len(frame)-30])
		if cut.Kind != whole.Kind || cut.Payload != whole.Payload || cut.IPLen != whole.IPLen {
			t.Errorf("cut off %+v, whole %+v", cut, whole)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add(segment())
	f.Fuzz(func(t *testing.T, b []byte) {
		p := Read(b)
		if p.Payload < 0 || p.Payload > 1<<16 || len(p.Header) > len(b) || p.Name == "" && p.Kind == Other {
			t.Errorf("%+v", p)
		}
		if p.Kind == Ours && len(p.Header) != testHeader {
			t.Errorf("a header of %d bytes", len(p.Header))
		}
	})
}

// What fills up a packet beyond the end of its message is not payload.
func TestPayloadIsOfTheMessage(t *testing.T) {
	h := &wire.Header{
		Types: []wire.Type{{Value: 1, Name: "DATA", Len: 9, Data: true}, {Value: 2, Name: "TOKEN", Len: 9}},
		Fields: []wire.Field{
			{Name: "length", At: 1, Size: 4, In: 1<<1 | 1<<2, Role: wire.Length},
			{Name: "offset", At: 5, Size: 4, In: 1<<1 | 1<<2, Role: wire.Offset},
		},
	}
	for _, c := range []struct {
		kind           byte
		length, offset uint32
		payload, want  int
	}{
		{1, 3, 0, 1444, 3},
		{1, 1444, 0, 1444, 1444},
		{1, 5000, 4332, 1444, 668},
		{1, 5000, 0, 700, 700},
		{1, 5000, 5000, 700, 700}, // which its receiver refuses
		{2, 3, 0, 40, 40},
	} {
		b := binary.BigEndian.AppendUint32([]byte{c.kind}, c.length)
		b = binary.BigEndian.AppendUint32(b, c.offset)
		if got := ofMessage(h, b, c.payload); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	if got := ofMessage(nil, nil, 7); got != 7 {
		t.Errorf("without a table of the header: got %d, want 7", got)
	}
}
