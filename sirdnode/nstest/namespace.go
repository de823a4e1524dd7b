package nstest

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// A Net is a network namespace, which lives by a file descriptor until the test ends.
type Net struct {
	file *os.File
}

// Namespace makes an empty network namespace without IPv6, so that no frames
// but the test's own are about.
func Namespace(t testing.TB) *Net {
	t.Helper()
	type made struct {
		file *os.File
		err  error
	}
	result := make(chan made)
	go func() { // exits locked: its thread is not used again
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			result <- made{nil, fmt.Errorf("unshare: %w", err)}
			return
		}
		for _, which := range []string{"all", "default"} {
			// Absent where the kernel has no IPv6.
			_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0)
		}
		file, err := os.Open("/proc/thread-self/ns/net")
		result <- made{file, err}
	}()
	r := <-result
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.file.Close() })
	return &Net{r.file}
}

// FD returns the namespace's file descriptor. It stays the Net's.
func (n *Net) FD() int { return int(n.file.Fd()) }

// Do runs f on a thread inside the namespace and returns its error. Sockets
// that f opens stay in the namespace and may be used from anywhere. f must not
// fail the test itself: it runs on another goroutine.
func (n *Net) Do(f func() error) error {
	result := make(chan error)
	go func() { // exits locked, as above
		runtime.LockOSThread()
		if err := unix.Setns(n.FD(), unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("setns: %w", err)
			return
		}
		result <- f()
	}()
	return <-result
}

// Handle returns a netlink handle inside the namespace, closed when the test
// ends.
func (n *Net) Handle(t testing.TB) *netlink.Handle {
	t.Helper()
	h, err := netlink.NewHandleAt(netns.NsHandle(n.FD()), unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// The names of the two ends of a veth pair, each in its own namespace.
const (
	VethA = "a0"
	VethB = "b0"
)

// Veth joins two namespaces by a veth pair, VethA in a and VethB in b, both up
// and without qdisc.
func Veth(t testing.TB, a, b *Net, mtu int) {
	t.Helper()
	link := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: VethA, MTU: mtu, TxQLen: -1, Namespace: netlink.NsFd(a.FD())},
		PeerName:      VethB,
		PeerNamespace: netlink.NsFd(b.FD()),
		PeerMTU:       uint32(mtu),
	}
	if err := a.Handle(t).LinkAdd(link); err != nil {
		t.Fatalf("make a veth pair: %v", err)
	}
	for _, end := range []struct {
		net  *Net
		name string
	}{{a, VethA}, {b, VethB}} {
		h := end.net.Handle(t)
		found, err := h.LinkByName(end.name)
		if err == nil {
			err = h.LinkSetUp(found)
		}
		if err != nil {
			t.Fatalf("%s: %v", end.name, err)
		}
	}
}
