//go:build linux

package nexthop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// A Route is how the kernel would send to an address.
type Route struct {
	Index  int        // of the interface
	Hop    netip.Addr // the next hop: a router, or the address itself
	Source netip.Addr // the address of this machine that it would send from
}

// Lookup asks the kernel for its route to an IPv4 address.
func Lookup(c *rtnl.Conn, to netip.Addr) (Route, error) {
	var b rtnl.Batch
	body := make([]byte, unix.SizeofRtMsg)
	body[0], body[1] = unix.AF_INET, 32
	b.Request("look up the route", "", unix.RTM_GETROUTE, 0, body)
	b.Attr(unix.RTA_DST, to.AsSlice())
	r := Route{Hop: to}
	var kind uint8
	err := c.Ask(&b, func(typ uint16, body []byte) {
		if typ != unix.RTM_NEWROUTE || len(body) < unix.SizeofRtMsg {
			return
		}
		kind = body[7] // rtm_type
		attrs := body[unix.SizeofRtMsg:]
		if out := rtnl.Find(attrs, unix.RTA_OIF); len(out) == 4 {
			r.Index = int(binary.NativeEndian.Uint32(out))
		}
		if source, ok := netip.AddrFromSlice(rtnl.Find(attrs, unix.RTA_PREFSRC)); ok {
			r.Source = source
		}
		if gateway, ok := netip.AddrFromSlice(rtnl.Find(attrs, unix.RTA_GATEWAY)); ok {
			r.Hop = gateway
		}
	})
	switch {
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH):
		return r, fmt.Errorf("no route to %v: this machine's routes lead nowhere from here (ip route get %v)", to, to)
	case err != nil:
		return r, fmt.Errorf("route to %v: %w", to, err)
	case kind == unix.RTN_LOCAL:
		return r, fmt.Errorf("%v is this machine's own address", to)
	case kind != unix.RTN_UNICAST || r.Index == 0:
		return r, fmt.Errorf("%v is not the address of one machine", to)
	}
	return r, nil
}
