//go:build linux

package fabric

import (
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/transport"
)

// The initial window of kernel TCP is a metric of routes: of all that a host has to
// others, and of none that a switch has.
func TestRoutesOfHostsHaveTheInitialWindow(t *testing.T) {
	for _, want := range []int{0, 66} {
		f := up(t, smallSpec, Config{Dilation: 1000, Network: transport.Network{InitialWindow: want}})
		for _, n := range f.topology.Nodes {
			h, err := netlink.NewHandleAt(netns.NsHandle(f.NamespaceFD(n.ID)), unix.NETLINK_ROUTE)
			if err != nil {
				t.Fatal(err)
			}
			routes, err := h.RouteList(nil, unix.AF_INET)
			h.Close()
			if err != nil {
				t.Fatal(err)
			}
			window := want
			if int(n.ID) >= len(f.topology.Hosts) {
				window = 0
			}
			if len(routes) == 0 {
				t.Errorf("%s has no routes", n.Name)
			}
			for _, r := range routes {
				if r.InitCwnd != window {
					t.Errorf("%s: %v has an initial window of %d, want %d", n.Name, r.Dst, r.InitCwnd, window)
				}
			}
		}
	}
}
