//go:build linux

package rtnl

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Link is a struct ifinfomsg: which interface, and which of its flags to set
// among change.
func Link(index int, flags, change uint32) []byte {
	b := make([]byte, 16)
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint32(b[8:], flags)
	binary.NativeEndian.PutUint32(b[12:], change)
	return b
}

// Traffic is a struct tcmsg: a qdisc, class or filter of an interface.
func Traffic(index int, handle, parent, info uint32) []byte {
	b := make([]byte, 20)
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint32(b[8:], handle)
	binary.NativeEndian.PutUint32(b[12:], parent)
	binary.NativeEndian.PutUint32(b[16:], info)
	return b
}

// Address is a struct ifaddrmsg of an IPv4 address.
func Address(index int, bits uint8) []byte {
	b := make([]byte, 8)
	b[0], b[1] = unix.AF_INET, bits
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	return b
}

// Neighbor is a struct ndmsg of a permanent IPv4 neighbor.
func Neighbor(index int) []byte {
	b := make([]byte, 12)
	b[0] = unix.AF_INET
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint16(b[8:], unix.NUD_PERMANENT)
	return b
}

// Route is a struct rtmsg of a static unicast IPv4 route in the main table.
func Route(bits uint8, flags uint32) []byte {
	b := make([]byte, 12)
	b[0], b[1] = unix.AF_INET, bits
	b[4], b[5], b[6], b[7] = unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST
	binary.NativeEndian.PutUint32(b[8:], flags)
	return b
}

// NextHop is a struct rtnexthop with one gateway.
func NextHop(index int, flags uint8, gateway [4]byte) []byte {
	b := make([]byte, 16)
	binary.NativeEndian.PutUint16(b[0:], uint16(len(b)))
	b[2] = flags
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint16(b[8:], unix.SizeofRtAttr+4)
	binary.NativeEndian.PutUint16(b[10:], unix.RTA_GATEWAY)
	copy(b[12:], gateway[:])
	return b
}

// Loopback is the index of lo in every network namespace.
const Loopback = 1

// LinkUp adds a request that brings an interface up.
func (b *Batch) LinkUp(index int, device string) {
	b.Request("bring up", device, unix.RTM_NEWLINK, 0, Link(index, unix.IFF_UP, unix.IFF_UP))
}
