package rtnl

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// Attributes of an extended acknowledgement (include/uapi/linux/netlink.h).
const nlmsgerrAttrMsg = 1

// eachMessage takes a received buffer apart.
func eachMessage(b []byte, each func(typ, flags uint16, seq uint32, body []byte) error) error {
	for len(b) >= unix.SizeofNlMsghdr {
		n := int(binary.NativeEndian.Uint32(b))
		if n < unix.SizeofNlMsghdr || n > len(b) {
			return fmt.Errorf("netlink message of %d bytes in %d", n, len(b))
		}
		h := b[:n]
		err := each(binary.NativeEndian.Uint16(h[4:]), binary.NativeEndian.Uint16(h[6:]),
			binary.NativeEndian.Uint32(h[8:]), h[unix.SizeofNlMsghdr:])
		if err != nil {
			return err
		}
		b = b[min(align(n), len(b)):]
	}
	return nil
}

// Find returns the value of the first attribute of a type in b, nil if there is
// none or a malformed one comes before it.
func Find(b []byte, typ uint16) []byte {
	for len(b) >= unix.SizeofRtAttr {
		n := int(binary.NativeEndian.Uint16(b))
		if n < unix.SizeofRtAttr || n > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint16(b[2:])&^unix.NLA_F_NESTED == typ {
			return b[unix.SizeofRtAttr:n]
		}
		b = b[min(align(n), len(b)):]
	}
	return nil
}

func align(n int) int { return (n + unix.NLMSG_ALIGNTO - 1) &^ (unix.NLMSG_ALIGNTO - 1) }

// errnoOf reads an NLMSG_ERROR message: 0 for an acknowledgement.
func errnoOf(body []byte) unix.Errno {
	if len(body) < 4 {
		return unix.EBADMSG
	}
	return unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
}

// reasonOf reads the kernel's words from an NLMSG_ERROR message that carries no
// request (NETLINK_CAP_ACK).
func reasonOf(body []byte) string {
	const fixed = 4 + unix.SizeofNlMsghdr
	if len(body) < fixed {
		return ""
	}
	return string(bytes.TrimRight(Find(body[fixed:], nlmsgerrAttrMsg), "\x00"))
}
