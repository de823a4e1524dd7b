//go:build linux

package ring

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// An OpError is an operation that failed on an interface. It unwraps to the
// kernel's error.
type OpError struct {
	Op        string // "bind"
	Interface string
	Err       error
}

func (e *OpError) Error() string {
	hint := ""
	switch {
	case errors.Is(e.Err, unix.EPERM):
		hint = " (raw sockets need CAP_NET_RAW: root, or a user namespace)"
	case errors.Is(e.Err, unix.ENOPROTOOPT):
		hint = " (this kernel is too old for the option)"
	case errors.Is(e.Err, unix.EAFNOSUPPORT):
		hint = " (the kernel needs CONFIG_PACKET)"
	}
	return fmt.Sprintf("packet socket on %s: %s: %v%s", e.Interface, e.Op, e.Err, hint)
}

// Unwrap returns the kernel's error.
func (e *OpError) Unwrap() error { return e.Err }

// link is the interface a socket is bound to.
type link struct {
	name  string
	index int
	mtu   int
}

func (l link) fail(op string, err error) error {
	return &OpError{Op: op, Interface: l.name, Err: err}
}

// openPacket opens an unbound packet socket, which receives nothing yet, and
// looks the interface up through it: in the socket's own namespace.
func openPacket(name string, index int) (fd int, l link, err error) {
	l = link{name: name, index: index}
	if name == "" {
		l.name = fmt.Sprintf("interface %d", index)
	}
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, l, l.fail("open", err)
	}
	if err := l.look(fd, name); err != nil {
		unix.Close(fd)
		return -1, l, l.fail("look the interface up", err)
	}
	return fd, l, nil
}

func (l *link) look(fd int, name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if name == "" {
		request.SetUint32(uint32(l.index))
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFNAME, request); err != nil {
			return err
		}
		l.name = request.Name()
		if request, err = unix.NewIfreq(l.name); err != nil {
			return err
		}
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request); err != nil {
		return err
	}
	l.index = int(request.Uint32())
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFMTU, request); err != nil {
		return err
	}
	l.mtu = int(request.Uint32())
	return nil
}

// option is one integer socket option and what it is for.
type option struct {
	op                 string
	level, name, value int
}

func (l link) set(fd int, options []option) error {
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return l.fail(o.op, err)
		}
	}
	return nil
}

// setSendBuffer limits the frames that the kernel keeps to bytes of its
// accounting; it doubles what it is given (net/core/sock.c, sk_setsockopt). Only
// root of the machine gets past net.core.wmem_max; others silently get that.
func setSendBuffer(fd, bytes int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, bytes/2) == nil {
		return nil
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, bytes/2)
}

// bind starts reception. It comes last, so that nothing arrives before options
// and rings are in place.
func (l link) bind(fd int, protocol uint16) error {
	if protocol == 0 {
		protocol = unix.ETH_P_ALL
	}
	address := &unix.SockaddrLinklayer{Protocol: protocol<<8 | protocol>>8, Ifindex: l.index}
	if err := unix.Bind(fd, address); err != nil {
		return l.fail("bind", err)
	}
	// An interface that is down takes the bind and reports ENETDOWN here.
	return l.pendingError(fd, "bind")
}

// pendingError fetches and clears the socket's error, such as ENETDOWN.
func (l link) pendingError(fd int, op string) error {
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	if err != nil {
		return l.fail(op, err)
	}
	return nil
}

// mapRing maps the socket's rings, all pages present: no page fault later.
func mapRing(fd, length int) ([]byte, error) {
	return unix.Mmap(fd, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
}

func closeRing(fd int, memory []byte) error {
	if fd < 0 {
		return nil
	}
	var unmap error
	if memory != nil {
		unmap = unix.Munmap(memory)
	}
	return errors.Join(unmap, unix.Close(fd))
}
