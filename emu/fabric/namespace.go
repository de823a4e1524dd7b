//go:build linux

package fabric

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// A namespace is a node's network namespace, which lives by a file descriptor and
// nothing else: no name, no process. When both are closed the kernel takes the
// namespace down with all that is in it.
type namespace struct {
	fd   int
	conn *rtnl.Conn
}

func (n *namespace) close() {
	if n.conn != nil {
		n.conn.Close()
	}
	if n.fd >= 0 {
		unix.Close(n.fd)
	}
	n.fd, n.conn = -1, nil
}

// makeNamespaces makes those of count namespaces that are wanted, one after the other on
// one thread, and calls inside in each. On failure it closes what it made.
func makeNamespaces(ctx context.Context, count int, wanted func(i int) bool, inside func(i int) error) (
	made []namespace, err error) {

	err = elsewhere(func() error {
		for i := range count {
			if !wanted(i) {
				made = append(made, namespace{fd: -1})
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			switch err := unix.Unshare(unix.CLONE_NEWNET); {
			case err == unix.ENOSPC: // not the disk's: see namespaces(7)
				return fmt.Errorf(
					"make network namespace %d of %d: the limit is reached: sysctl -w user.max_net_namespaces=10000",
					i+1, count)
			case err != nil:
				return fmt.Errorf(
					"make network namespace %d of %d: %w; be root, or use a user namespace (package sandbox)",
					i+1, count, err)
			}
			fd, err := openNamespace()
			if err != nil {
				return err
			}
			made = append(made, namespace{fd: fd})
			if made[i].conn, err = rtnl.Open(); err != nil {
				return err
			}
			if err := inside(i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for i := range made {
			made[i].close()
		}
		return nil, err
	}
	return made, nil
}

// openNamespace returns a descriptor of the calling thread's network namespace.
func openNamespace() (int, error) {
	const path = "/proc/thread-self/ns/net"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open the thread's network namespace: %w", &os.PathError{Op: "open", Path: path,
			Err: err})
	}
	return fd, nil
}

// elsewhere runs f on a thread of its own choosing, on which f may change the
// network namespace. The thread is back in its namespace afterwards; where that
// fails it is never used again.
func elsewhere(f func() error) error {
	runtime.LockOSThread()
	origin, err := openNamespace()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer unix.Close(origin)
	result := f()
	if err := unix.Setns(origin, unix.CLONE_NEWNET); err != nil && !inNamespace(origin) {
		// Still locked: the thread ends with its goroutine.
		return fmt.Errorf("return to the network namespace: %w (after: %v)", err, result)
	}
	runtime.UnlockOSThread()
	return result
}

// inNamespace reports whether the calling thread is in the namespace of fd, as it
// is when it had no right to leave it.
func inNamespace(fd int) bool {
	var here, there unix.Stat_t
	return unix.Stat("/proc/thread-self/ns/net", &here) == nil && unix.Fstat(fd, &there) == nil &&
		here.Dev == there.Dev && here.Ino == there.Ino
}

// Within runs f on a thread inside the namespace of fd.
func Within(fd int, f func() error) error {
	return elsewhere(func() error {
		if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return f()
	})
}
