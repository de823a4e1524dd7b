package capture

import "encoding/binary"

// identity is the part of a packet that no switch changes and that no other
// packet under way at the time shares: addresses, IP identification and length,
// and the first 12 bytes after the IP header, which are the UDP header and the
// CRC32C (package wire), or a TCP segment's ports and sequence numbers.
type identity struct {
	src, dst [4]byte
	id, len  uint16
	body     [12]byte
}

const (
	ethernetHeader = 14
	ipv4Header     = 20
)

// Fingerprint returns a number by which the sightings of one packet at several places
// are known, almost certainly no other's. ok is false if the frame is not an IPv4
// packet, or was cut too short.
func Fingerprint(frame []byte) (n uint64, ok bool) {
	key, _, ok := identify(frame)
	if !ok {
		return 0, false
	}
	n = 14695981039346656037 // FNV-1a's
	add := func(list ...byte) {
		for _, b := range list {
			n = (n ^ uint64(b)) * 1099511628211
		}
	}
	add(key.src[:]...)
	add(key.dst[:]...)
	add(byte(key.id), byte(key.id>>8), byte(key.len), byte(key.len>>8))
	add(key.body[:]...)
	return n, true
}

// identify reads a frame's identity and IP precedence. ok is false if it is
// not an IPv4 packet, or was cut too short.
func identify(frame []byte) (key identity, priority uint8, ok bool) {
	if len(frame) < ethernetHeader+ipv4Header+len(key.body) || frame[12] != 0x08 || frame[13] != 0 ||
		frame[ethernetHeader]>>4 != 4 {
		return key, 0, false
	}
	ip := frame[ethernetHeader:]
	key.id = binary.BigEndian.Uint16(ip[4:])
	key.len = binary.BigEndian.Uint16(ip[2:])
	copy(key.src[:], ip[12:16])
	copy(key.dst[:], ip[16:20])
	copy(key.body[:], ip[ipv4Header:])
	return key, ip[1] >> 5, true
}
