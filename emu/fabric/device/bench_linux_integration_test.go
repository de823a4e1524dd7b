//go:build linux

package device

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo/units"
)

// A bench is a machine with a device, and what it takes to take that.
type bench struct {
	t       *testing.T
	cable   *nstest.Cable
	near    *netlink.Handle
	machine *Machine
}

func newBench(t *testing.T) *bench {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	cable := nstest.NewCable(t)
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return &bench{t, cable, cable.Machine.Handle(t), &Machine{Enter: cable.Machine.Do, FD: cable.Machine.FD(),
		Journal: Journal{Dir: dir}}}
}

// requireBPF skips the test where programs cannot be attached.
func (b *bench) requireBPF() {
	b.t.Helper()
	lo := &Link{Name: "lo", Index: rtnl.Loopback}
	err := nstest.Namespace(b.t).Do(func() error {
		c, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		j, err := join(c, lo, lo)
		if err == nil {
			err = j.close()
		}
		return err
	})
	if err != nil {
		b.t.Skip(err)
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// look takes a snapshot.
func (b *bench) look() (s *Snapshot) {
	b.t.Helper()
	b.must(b.machine.Enter(func() error {
		c, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		s, err = Look(c, nstest.CableNear)
		return err
	}))
	return s
}

// attach takes the device, as a fabric does.
func (b *bench) attach(mtu units.Bytes, force bool) *Device {
	b.t.Helper()
	d, err := b.machine.Take(nstest.CableNear, force)
	b.must(err)
	leaf := nstest.Namespace(b.t)
	b.must(b.near.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: d.Beside(), MTU: int(mtu)}, PeerName: "leaf",
		PeerNamespace: netlink.NsFd(leaf.FD()), PeerMTU: uint32(mtu),
	}))
	b.must(d.Attach(mtu))
	return d
}

// unchanged fails unless the device is as it was, within 2 s.
func (b *bench) unchanged(before *Snapshot) {
	b.t.Helper()
	var differences []string
	for range 40 {
		if differences = b.look().Differences(before); len(differences) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(differences) > 0 {
		b.t.Errorf("the device is not as it was:\n%s", strings.Join(differences, "\n"))
	}
	list, err := b.near.LinkList()
	b.must(err)
	if len(list) != 2 { // with lo
		b.t.Errorf("the machine has %d interfaces, want 2", len(list))
	}
	names, err := b.machine.Journal.names()
	b.must(err)
	if len(names) > 0 {
		b.t.Errorf("the journal still has %v", names)
	}
}

func (b *bench) address(text string) {
	b.t.Helper()
	a, err := netlink.ParseAddr(text)
	b.must(err)
	a.Flags = unix.IFA_F_NODAD
	b.must(b.near.AddrAdd(b.cable.Near(b.t), a))
}

// settle waits until the interface has given itself an address, as one does that comes
// up, by IPv6 if there is that, and until the routes of its addresses are there.
func (b *bench) settle() {
	b.t.Helper()
	before := b.look()
	for range 60 {
		time.Sleep(100 * time.Millisecond)
		own := func(i Item) bool {
			return i.Body[0] == unix.AF_INET6 && i.Body[3] == unix.RT_SCOPE_LINK && i.Body[2]&unix.IFA_F_TENTATIVE == 0
		}
		now := b.look()
		if len(now.Differences(before)) == 0 && (!now.Up() || slices.ContainsFunc(now.Addresses, own)) {
			break
		}
		before = now
	}
}

// states are what a device may be like before a run: each is more than the one before it.
var states = []struct {
	name string
	make func(*bench)
}{
	{"new", func(*bench) {}},
	{"down, with addresses", func(b *bench) {
		b.address("192.0.2.1/24")
		b.address("2001:db8::1/64")
		b.must(b.near.LinkSetMTU(b.cable.Near(b.t), 1400))
	}},
	{"up", func(b *bench) { b.must(b.near.LinkSetUp(b.cable.Near(b.t))) }},
	{"in use", func(b *bench) {
		l := b.cable.Near(b.t)
		_, all, _ := net.ParseCIDR("0.0.0.0/0")
		_, some, _ := net.ParseCIDR("198.51.100.0/24")
		gateway := net.IPv4(192, 0, 2, 2)
		b.must(b.near.RouteAdd(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: all, Gw: gateway}))
		b.must(b.near.RouteAdd(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: some, Gw: gateway, Table: 77}))
		b.must(b.near.NeighAdd(&netlink.Neigh{LinkIndex: l.Attrs().Index, IP: gateway, State: netlink.NUD_PERMANENT,
			HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}}))
		b.must(b.near.QdiscAdd(&netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index,
			Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}))
	}},
}

// eachState runs a test with a device in each state, joined by links and by filters.
func eachState(t *testing.T, test func(*testing.T, *bench)) {
	newBench(t).requireBPF()
	for _, how := range []string{"links", "filters"} {
		for n, s := range states {
			t.Run(how+", "+s.name, func(t *testing.T) {
				classic = how == "filters"
				t.Cleanup(func() { classic = false })
				b := newBench(t)
				for _, s := range states[:n+1] {
					s.make(b)
				}
				b.settle()
				test(t, b)
			})
		}
	}
}
