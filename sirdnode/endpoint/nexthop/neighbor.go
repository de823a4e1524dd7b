//go:build linux

package nexthop

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// How long a neighbor is asked for: the kernel sends three requests, one a second.
const (
	resolveTime  = 4 * time.Second
	resolveEvery = 20 * time.Millisecond
)

// Resolve returns the MAC address of the next hop to an address. Where the kernel does
// not know it, a datagram to that port has it ask, for at most 4 s.
func Resolve(ctx context.Context, c *rtnl.Conn, i *Interface, r Route, to netip.AddrPort) (topo.MAC, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	var socket net.Conn
	for {
		mac, known, err := neighbor(c, r)
		if known || err != nil {
			return mac, err
		}
		if socket == nil {
			local := net.UDPAddrFromAddrPort(netip.AddrPortFrom(i.Addr, 0))
			if socket, err = net.DialUDP("udp4", local, net.UDPAddrFromAddrPort(to)); err != nil {
				return mac, fmt.Errorf("ask for the neighbor %v: %w", r.Hop, err)
			}
			defer socket.Close()
			_, _ = socket.Write(nil) // what becomes of it, the kernel's table says
		}
		select {
		case <-ctx.Done():
			who := fmt.Sprint(r.Hop)
			if r.Hop != to.Addr() {
				who = fmt.Sprintf("%v, the next hop to %v,", r.Hop, to.Addr())
			}
			return mac, fmt.Errorf("%s does not answer ARP on %s: is it up, and on that network?", who, i.Name)
		case <-time.After(resolveEvery):
		}
	}
}

// valid are the states in which the kernel sends to a neighbor's address
// (include/net/neighbor.h, NUD_VALID).
const valid = unix.NUD_PERMANENT | unix.NUD_NOARP | unix.NUD_REACHABLE | unix.NUD_PROBE | unix.NUD_STALE |
	unix.NUD_DELAY

// neighbor looks a next hop up in the kernel's table.
func neighbor(c *rtnl.Conn, r Route) (mac topo.MAC, known bool, err error) {
	body := make([]byte, unix.SizeofNdMsg)
	body[0] = unix.AF_INET
	err = c.Dump("list neighbors", unix.RTM_GETNEIGH, body, func(typ uint16, body []byte) error {
		if typ != unix.RTM_NEWNEIGH || len(body) < unix.SizeofNdMsg ||
			int(binary.NativeEndian.Uint32(body[4:])) != r.Index || binary.NativeEndian.Uint16(body[8:])&valid == 0 {
			return nil
		}
		attrs := body[unix.SizeofNdMsg:]
		address := rtnl.Find(attrs, unix.NDA_LLADDR)
		if slices.Equal(rtnl.Find(attrs, unix.NDA_DST), r.Hop.AsSlice()) && len(address) == len(mac) {
			copy(mac[:], address)
			known = true
		}
		return nil
	})
	if err != nil {
		return mac, false, fmt.Errorf("neighbors: %w", err)
	}
	return mac, known, nil
}
