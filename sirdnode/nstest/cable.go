//go:build linux

package nstest

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/vishvananda/netlink"
)

// A Cable leads from an interface of a namespace that stands for a machine to one of
// another machine. Both namespaces have IPv6, as machines do.
type Cable struct {
	Machine, Far *Net
}

// The names of a cable's ends.
const (
	CableNear = "cable0"
	CableFar  = "far0"
)

// NewCable lays a cable. The near end is down, the far end up.
func NewCable(t testing.TB) *Cable {
	t.Helper()
	c := &Cable{Namespace(t), Namespace(t)}
	for _, n := range []*Net{c.Machine, c.Far} {
		err := n.Do(func() error {
			for _, which := range []string{"all", "default"} {
				// Absent where the kernel has no IPv6.
				_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("0"), 0)
				_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/accept_dad", []byte("0"), 0) // takes a second
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	link := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: CableNear, Namespace: netlink.NsFd(c.Machine.FD())},
		PeerName:      CableFar,
		PeerNamespace: netlink.NsFd(c.Far.FD()),
	}
	if err := c.Machine.Handle(t).LinkAdd(link); err != nil {
		t.Fatalf("make a veth pair: %v", err)
	}
	far := c.Far.Handle(t)
	for _, name := range []string{"lo", CableFar} {
		l, err := far.LinkByName(name)
		if err == nil {
			err = far.LinkSetUp(l)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c
}

// Join gives the far end what sirdbed topo says that it takes: an address, and routes by
// way of the leaf.
func (c *Cable) Join(t testing.TB, address, leaf [4]byte) {
	t.Helper()
	h := c.Far.Handle(t)
	l, err := h.LinkByName(CableFar)
	if err != nil {
		t.Fatal(err)
	}
	ip := func(a [4]byte) net.IP { return net.IPv4(a[0], a[1], a[2], a[3]) }
	err = h.AddrAdd(l, &netlink.Addr{IPNet: &net.IPNet{IP: ip(address), Mask: net.CIDRMask(32, 32)}})
	if err == nil {
		err = h.RouteAdd(&netlink.Route{
			LinkIndex: l.Attrs().Index, Gw: ip(leaf), Flags: int(netlink.FLAG_ONLINK), Src: ip(address),
			Dst: &net.IPNet{IP: net.IPv4(10, 0, 0, 0), Mask: net.CIDRMask(8, 32)},
		})
	}
	if err != nil {
		t.Fatalf("the far end of the cable: %v", err)
	}
}

// Near returns the near end's interface.
func (c *Cable) Near(t testing.TB) netlink.Link {
	t.Helper()
	l, err := c.Machine.Handle(t).LinkByName(CableNear)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", CableNear, err))
	}
	return l
}
