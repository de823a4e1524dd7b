//go:build linux

package fabric

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Programs' TCP has the congestion control that Linux has by itself, whatever the machine's
// default is, and whether namespaces may have it as theirs.
func TestProgramsHaveCubic(t *testing.T) {
	if !available(defaultControl) {
		t.Skipf("this kernel has no %s", defaultControl)
	}
	f := up(t, smallSpec, Config{Dilation: 1})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	to := netip.AddrPortFrom(netip.AddrFrom4(f.topology.KernelAddr(1)), 7000)
	var listener net.Listener
	must(f.Do(1, func() (err error) {
		listener, err = net.Listen("tcp4", to.String())
		return err
	}))
	defer listener.Close()
	var client net.Conn
	must(f.Do(0, func() (err error) {
		client, err = net.DialTimeout("tcp4", to.String(), 5*time.Second)
		return err
	}))
	defer client.Close()
	server, err := listener.Accept()
	must(err)
	defer server.Close()
	for name, c := range map[string]net.Conn{"client": client, "server": server} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		must(err)
		control := ""
		must(raw.Control(func(fd uintptr) {
			control, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		}))
		if err != nil || control != defaultControl {
			t.Errorf("the %s has %q, %v", name, control, err)
		}
	}
}
