// Package wire is the frame that every transport in sirdbed travels in:
//
//	Ethernet (14) | IPv4 (20) | UDP (8) | CRC32C (4) | transport header | payload
//
// The UDP destination port names the protocol, the source port is entropy for
// ECMP, the IP precedence carries the priority, the ECN bits congestion, and the
// IP identification counts packets so that a capture can tell two alike apart.
// veth links carry no frame check sequence, so a CRC32C over addresses, UDP
// header, transport header and payload finds corruption.
//
// The package knows no transport. Each has a Protocol, which says how its header
// is taken apart: package layer, below this one, has gopacket do so, for tests.
//
// Encoding and decoding allocate nothing and share nothing.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Sizes of the parts of a frame, in bytes.
const (
	// EthernetLen is the Ethernet header's. Linux counts it in a frame's length,
	// and not the frame check sequence.
	EthernetLen = 14
	ipv4Len     = 20
	udpLen      = 8

	// CRCLen is the checksum's, between the UDP header and the transport's.
	CRCLen = 4
	// HeaderOffset is where the transport header begins in a frame.
	HeaderOffset = EthernetLen + ipv4Len + udpLen + CRCLen
	// IPOverhead is what an IP packet carries besides transport header and
	// payload.
	IPOverhead units.Bytes = ipv4Len + udpLen + CRCLen
)

// Congestion is the ECN field of the IP header.
type Congestion uint8

// The codepoints of RFC 3168 that sirdbed uses.
const (
	NotECT Congestion = 0
	ECT    Congestion = 2 // ECT(0)
	CE     Congestion = 3
)

// Marking returns the codepoint of a packet that may be marked (ect), or is (ce).
func Marking(ect, ce bool) Congestion {
	switch {
	case ce:
		return CE
	case ect:
		return ECT
	}
	return NotECT
}

// SourcePort returns the UDP source port that stands for a packet's entropy: one
// of the dynamic ports of RFC 6335, by the entropy's upper 14 bits.
func SourcePort(entropy uint16) uint16 { return 0xc000 | entropy>>2 }

// CreditTOS is the bit of the IPv4 TOS octet that puts a packet into the ports'
// credit class, whatever its precedence: the lowest of the DSCP, just above the
// ECN field. Ports without a credit class ignore it.
const CreditTOS = 0x04

// A Frame is the fields of a frame that its sender chooses. Header and Payload
// are views: Decode points them into its input.
type Frame struct {
	SrcMAC, DstMAC   [6]byte
	SrcAddr, DstAddr [4]byte
	Entropy          uint16 // UDP source port
	Port             uint16 // UDP destination port: the protocol
	ID               uint16 // IP identification
	Priority         uint8  // IP precedence, 0 to 7, 7 the most urgent
	ECN              Congestion
	Credit           bool   // of the ports' rate-limited credit class
	Header           []byte // transport header
	Payload          []byte
}

// Reasons for which Decode refuses a frame.
var (
	ErrNotOurs   = errors.New("not an IPv4 UDP frame")
	ErrTruncated = errors.New("truncated frame")
	ErrChecksum  = errors.New("corrupted frame: checksum mismatch")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Len returns the length of the encoded frame, without padding.
func (f *Frame) Len() int { return HeaderOffset + len(f.Header) + len(f.Payload) }

// WireLen returns what a packet with the given transport header and payload
// lengths occupies on a link.
func WireLen(header, payload int) units.Bytes {
	return topo.WireBytes(IPOverhead + units.Bytes(header) + units.Bytes(payload))
}

// MSS returns the payload that fits an MTU beside a transport header.
func MSS(mtu units.Bytes, header int) units.Bytes { return mtu - IPOverhead - units.Bytes(header) }

// Encode writes f into buf and returns the length. Payload may already lie in
// its place in buf (buf[HeaderOffset+len(Header):]). It panics when buf is too
// short, which is the caller's error.
func (f *Frame) Encode(buf []byte) int {
	n := f.Len()
	b := buf[:n]
	copy(b[0:6], f.DstMAC[:])
	copy(b[6:12], f.SrcMAC[:])
	b[12], b[13] = 0x08, 0x00

	ip := b[EthernetLen:]
	ip[0] = 0x45
	ip[1] = f.Priority<<5 | uint8(f.ECN)
	if f.Credit {
		ip[1] |= CreditTOS
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(n-EthernetLen))
	binary.BigEndian.PutUint16(ip[4:], f.ID)
	ip[6], ip[7] = 0x40, 0 // don't fragment
	ip[8], ip[9] = 64, 17  // TTL, UDP
	ip[10], ip[11] = 0, 0
	copy(ip[12:16], f.SrcAddr[:])
	copy(ip[16:20], f.DstAddr[:])
	binary.BigEndian.PutUint16(ip[10:], ^ipSum(ip))

	udp := ip[ipv4Len:]
	binary.BigEndian.PutUint16(udp[0:], f.Entropy)
	binary.BigEndian.PutUint16(udp[2:], f.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(n-EthernetLen-ipv4Len))
	udp[6], udp[7] = 0, 0 // no UDP checksum (RFC 768): the CRC covers more

	copy(b[HeaderOffset:], f.Header)
	// Usually the payload was written in place: then this copies nothing.
	if to := b[HeaderOffset+len(f.Header):]; len(to) > 0 && &to[0] != &f.Payload[0] {
		copy(to, f.Payload)
	}
	binary.BigEndian.PutUint32(udp[udpLen:], checksum(ip))
	return n
}

// Decode reads a frame that carries a transport header of the given minimal
// length. header returns how many bytes the transport header really has, by its
// first ones; it must not return fewer than min. Frames may be padded after the
// IP packet.
func (f *Frame) Decode(b []byte, min int, header func([]byte) (int, error)) error {
	if len(b) < EthernetLen+ipv4Len || b[12] != 0x08 || b[13] != 0x00 {
		return ErrNotOurs
	}
	ip := b[EthernetLen:]
	if ip[0] != 0x45 || ip[9] != 17 || ip[6]&0x3f != 0 || ip[7] != 0 {
		return ErrNotOurs
	}
	total := int(binary.BigEndian.Uint16(ip[2:]))
	if total > len(ip) || total < ipv4Len+udpLen+CRCLen+min {
		return ErrTruncated
	}
	ip = ip[:total]
	if ipSum(ip) != 0xffff {
		return ErrChecksum
	}
	udp := ip[ipv4Len:]
	if int(binary.BigEndian.Uint16(udp[4:])) != len(udp) {
		return ErrTruncated
	}
	if binary.BigEndian.Uint32(udp[udpLen:]) != checksum(ip) {
		return ErrChecksum
	}
	body := udp[udpLen+CRCLen:]
	n, err := header(body)
	if err != nil {
		return err
	}
	if n < min || n > len(body) {
		return fmt.Errorf("%w: transport header of %d bytes in %d", ErrTruncated, n, len(body))
	}
	copy(f.DstMAC[:], b[0:6])
	copy(f.SrcMAC[:], b[6:12])
	f.Priority, f.ECN = ip[1]>>5, Congestion(ip[1]&3)
	f.Credit = ip[1]&CreditTOS != 0
	f.ID = binary.BigEndian.Uint16(ip[4:])
	copy(f.SrcAddr[:], ip[12:16])
	copy(f.DstAddr[:], ip[16:20])
	f.Entropy = binary.BigEndian.Uint16(udp[0:])
	f.Port = binary.BigEndian.Uint16(udp[2:])
	f.Header, f.Payload = body[:n:n], body[n:]
	return nil
}

// DestinationPort reads the UDP destination port of a frame that may be one of
// ours, without checking anything else.
func DestinationPort(b []byte) (uint16, bool) {
	if len(b) < HeaderOffset || b[12] != 0x08 || b[13] != 0x00 || b[EthernetLen] != 0x45 || b[EthernetLen+9] != 17 {
		return 0, false
	}
	return binary.BigEndian.Uint16(b[EthernetLen+ipv4Len+2:]), true
}

// ipSum is the one's complement sum of an IPv4 header: 0xffff when its checksum
// is right.
func ipSum(ip []byte) uint16 {
	var sum uint32
	for i := 0; i < ipv4Len; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum>>16 + sum&0xffff
	return uint16(sum + sum>>16)
}

// checksum is the CRC32C of what no switch may change: the addresses, and
// everything from the UDP header on but the CRC itself. ip is the whole packet.
func checksum(ip []byte) uint32 {
	c := crc32.Update(0, castagnoli, ip[12:ipv4Len+udpLen])
	return crc32.Update(c, castagnoli, ip[ipv4Len+udpLen+CRCLen:])
}
