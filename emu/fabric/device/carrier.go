//go:build linux

package device

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// A Carrier is what is known of the other end of a device's cable.
type Carrier struct {
	Up bool // it is there and up
	// Losses is how often it has gone since the device was made. 0 where the kernel
	// does not count that (before Linux 4.16).
	Losses uint32
}

// Carrier looks at the cable. A card takes seconds to find out, once it is brought up. The
// error matches ErrGone if the device itself is not there any more.
func (d *Device) Carrier() (c Carrier, err error) {
	there := false
	err = d.conn.Dump("list interfaces", unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg),
		func(typ uint16, body []byte) error {
			if typ == unix.RTM_NEWLINK && len(body) >= unix.SizeofIfInfomsg &&
				binary.NativeEndian.Uint32(body[4:]) == uint32(d.record.Before.Index) {
				there = true
				c.Up = binary.NativeEndian.Uint32(body[8:])&unix.IFF_LOWER_UP != 0
				if b := rtnl.Find(body[unix.SizeofIfInfomsg:], unix.IFLA_CARRIER_DOWN_COUNT); len(b) == 4 {
					c.Losses = binary.NativeEndian.Uint32(b)
				}
			}
			return nil
		})
	if err == nil && !there {
		err = fmt.Errorf("device %s: %w", d.Name(), ErrGone)
	}
	return c, err
}
