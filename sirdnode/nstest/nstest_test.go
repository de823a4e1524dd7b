//go:build linux

package nstest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { Main(m) }

func TestVethLinksTwoNamespaces(t *testing.T) {
	RequireNetAdmin(t)
	Lock(t)
	a, b := Namespace(t), Namespace(t)
	Veth(t, a, b, 9000)
	for name, ns := range map[string]*Net{VethA: a, VethB: b} {
		err := ns.Do(func() error {
			link, err := net.InterfaceByName(name)
			if err == nil && (link.MTU != 9000 || link.Flags&net.FlagUp == 0) {
				err = fmt.Errorf("%+v", link)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := net.InterfaceByName(VethA); err == nil {
		t.Errorf("%s is in the namespace that runs the tests", VethA)
	}
	here, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if here != main {
		t.Errorf("this thread is in %s, the process in %s", here, main)
	}
}

// While a test has the lock no other process gets it; its own tests do.
func TestLockKeepsOthersOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	locked, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path) // a description of its own, as another process has
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Errorf("locked twice: %v", err)
	}
	locked.Close()
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("not free after Close: %v", err)
	}
	Lock(t)
	t.Run("again", func(t *testing.T) { Lock(t) })
	if lock.users != 1 {
		t.Errorf("%d users, want 1", lock.users)
	}
}
