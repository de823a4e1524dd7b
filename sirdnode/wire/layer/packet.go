package layer

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"sirdbed/sirdnode/wire"
)

// A Packet is what a frame carries, for those who need no layers. Lengths are those
// of the packet, whatever was kept of it.
type Packet struct {
	Kind     Kind
	Name     string // of what is neither ours nor TCP: "ARP", "UDP", "ICMPv4"
	Src, Dst [4]byte
	ECN      wire.Congestion
	Priority uint8 // IP precedence
	IPLen    int   // bytes of the IP packet
	Payload  int   // bytes behind the transport's header, less what fills up a packet beyond its message

	Protocol *wire.Protocol // of a Ours
	Header   []byte         // of a Ours: its transport header, a part of the frame

	SrcPort, DstPort uint16 // of UDP and TCP
	Seq, Ack         uint32 // of TCP
	Flags            string // of TCP, such as "SYN ACK"
}

// A Kind tells packets apart.
type Kind uint8

// The kinds of packet.
const (
	Other     Kind = iota // not IPv4, or cut off before it could be told; of its fields only Name is set
	OtherIPv4             // neither of the next two
	TCP                   // a segment of TCP
	Ours                  // of a protocol that was registered
)

// Read takes a frame apart, from its Ethernet header on. It is safe for concurrent
// use; what it returns points into the frame.
func Read(frame []byte) (p Packet) {
	p.Name = "cut off"
	for _, l := range Decode(frame, gopacket.DecodeOptions{Lazy: true, NoCopy: true}).Layers() {
		switch l := l.(type) {
		case *layers.Ethernet:
			p.Name = l.EthernetType.String()
		case *layers.IPv4:
			p.Kind, p.Name = OtherIPv4, l.Protocol.String()
			copy(p.Src[:], l.SrcIP.To4())
			copy(p.Dst[:], l.DstIP.To4())
			p.ECN, p.Priority = wire.Congestion(l.TOS&3), l.TOS>>5
			p.IPLen = int(l.Length)
			p.Payload = max(0, p.IPLen-4*int(l.IHL))
		case *layers.UDP:
			p.SrcPort, p.DstPort = uint16(l.SrcPort), uint16(l.DstPort)
		case *layers.TCP:
			p.Kind = TCP
			p.SrcPort, p.DstPort, p.Seq, p.Ack = uint16(l.SrcPort), uint16(l.DstPort), l.Seq, l.Ack
			p.Payload = max(0, p.Payload-4*int(l.DataOffset))
			p.Flags = flagsOf(l)
		case *Transport:
			p.Kind, p.Protocol, p.Header = Ours, l.Protocol, l.Bytes()
			p.Name = l.Protocol.Name
			p.Payload = max(0, p.Payload-8-len(l.Contents))
			p.Payload = ofMessage(l.Protocol.Header, p.Header, p.Payload)
		}
	}
	return p
}

// ofMessage is how many of a packet's payload bytes are of its message: some protocols fill up
// packets beyond the message's end.
func ofMessage(h *wire.Header, b []byte, payload int) int {
	t := h.Type(b)
	if t == nil || !t.Data {
		return payload
	}
	length, ok := h.Value(t, b, wire.Length)
	offset, known := h.Value(t, b, wire.Offset)
	if !ok || !known || length <= offset {
		return payload
	}
	return int(min(int64(payload), int64(length-offset)))
}

// flagsOf names the flags of a segment.
func flagsOf(l *layers.TCP) (names string) {
	for _, f := range []struct {
		set  bool
		name string
	}{{l.SYN, "SYN"}, {l.FIN, "FIN"}, {l.RST, "RST"}, {l.PSH, "PSH"}, {l.ACK, "ACK"}, {l.ECE, "ECE"}, {l.CWR, "CWR"}} {
		if f.set && names != "" {
			names += " "
		}
		if f.set {
			names += f.name
		}
	}
	return names
}
