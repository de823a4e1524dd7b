//go:build linux

package nexthop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func TestMain(m *testing.M) { nstest.Main(m) }

// Two namespaces side by side, 10.7.1.1/24 and 10.7.1.2/24; 10.8.0.0/16 is behind the
// second one.
func TestWayToANeighborAndBeyond(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	nstest.Veth(t, a, b, 1400)
	var far netlink.Link
	for _, end := range []struct {
		in          *nstest.Net
		name, plain string
	}{{a, nstest.VethA, "10.7.1.1/24"}, {b, nstest.VethB, "10.7.1.2/24"}} {
		h := end.in.Handle(t)
		link, err := h.LinkByName(end.name)
		if err != nil {
			t.Fatal(err)
		}
		address, err := netlink.ParseAddr(end.plain)
		if err == nil {
			err = h.AddrAdd(link, address)
		}
		if err != nil {
			t.Fatal(err)
		}
		far = link
	}
	_, behind, err := net.ParseCIDR("10.8.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Handle(t).RouteAdd(&netlink.Route{Dst: behind, Gw: address("10.7.1.2").AsSlice()}); err != nil {
		t.Fatal(err)
	}
	err = a.Do(func() error {
		c, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		i, err := running(nstest.VethA)
		if err != nil {
			return err
		}
		if i.Addr != address("10.7.1.1") || i.MTU != 1400 || i.Rate != 10*units.Gbps {
			err = fmt.Errorf("interface %+v: want 10.7.1.1, MTU 1400, and a veth's 10Gbps", i)
		}
		for _, to := range []string{"10.7.1.2", "10.8.3.4"} {
			r, failed := Lookup(c, address(to))
			if failed != nil {
				return failed
			}
			if r.Index != i.Index || r.Hop != address("10.7.1.2") || r.Source != i.Addr {
				err = errors.Join(err, fmt.Errorf("route to %s: %+v", to, r))
			}
			mac, failed := Resolve(context.Background(), c, &i, r, netip.AddrPortFrom(address(to), 9))
			if mac != topo.MAC(far.Attrs().HardwareAddr) {
				err = errors.Join(err, fmt.Errorf("the next hop to %s is at %v, %v; want %v",
					to, mac, failed, far.Attrs().HardwareAddr))
			}
		}
		for to, want := range map[string]string{
			"10.9.0.1": "no route", "224.0.0.1": "no route", "10.7.1.1": "own address",
			"10.7.1.255": "not the address of one",
		} {
			if _, failed := Lookup(c, address(to)); failed == nil || !strings.Contains(failed.Error(), want) {
				err = errors.Join(err, fmt.Errorf("route to %s: error %v, want %q", to, failed, want))
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNeighborThatIsNotThereIsNamed(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	nstest.Veth(t, a, b, 1500)
	h := a.Handle(t)
	link, err := h.LinkByName(nstest.VethA)
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := netlink.ParseAddr("10.7.1.1/24")
	if err == nil {
		err = h.AddrAdd(link, prefix)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = a.Do(func() error {
		c, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		i, err := running(nstest.VethA)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		to := address("10.7.1.9")
		_, err = Resolve(ctx, c, &i, Route{Index: i.Index, Hop: to}, netip.AddrPortFrom(to, 9))
		if err == nil || !strings.Contains(err.Error(), "10.7.1.9 does not answer ARP on "+nstest.VethA) {
			return fmt.Errorf("error %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func address(text string) netip.Addr { return netip.MustParseAddr(text) }

// running waits until an interface runs, which the kernel may say a second late.
func running(name string) (i Interface, err error) {
	for range 200 {
		if i, err = ByName(name); err == nil {
			return i, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return i, err
}
