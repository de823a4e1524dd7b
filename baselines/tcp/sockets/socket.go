//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/topo"
)

// Port is the TCP port on which hosts listen.
const Port = 47100

// backlog is how many connections may wait to be accepted: as many as a large
// fabric opens at once.
const backlog = 16384

// listen opens the socket that accepts connections.
func listen(addr topo.Addr, control string) (fd int, err error) {
	if fd, err = newSocket(control); err != nil {
		return -1, err
	}
	err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrInet4{Port: Port, Addr: addr}))
	if err == nil {
		err = os.NewSyscallError("listen", unix.Listen(fd, backlog))
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("listen on %v:%d: %w", addr, Port, err)
	}
	return fd, nil
}

// dial starts to open a connection between two hosts' kernels.
func dial(from, to topo.Addr, control string) (fd int, err error) {
	if fd, err = newSocket(control); err != nil {
		return -1, err
	}
	err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrInet4{Addr: from}))
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrInet4{Port: Port, Addr: to})
		if errors.Is(err, unix.EINPROGRESS) {
			err = nil
		}
		err = os.NewSyscallError("connect", err)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// newSocket makes a socket with a congestion control, which the connections
// accepted from it inherit, and without Nagle's algorithm, as RPC systems do.
func newSocket(control string) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	err = os.NewSyscallError("setsockopt TCP_NODELAY", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	if err == nil {
		err = setControl(fd, control)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const availablePath = "/proc/sys/net/ipv4/tcp_available_congestion_control"

// setControl sets the congestion control. If the kernel lacks it, the error
// lists those that it has.
func setControl(fd int, control string) error {
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, control)
	switch {
	case errors.Is(err, unix.ENOENT):
		have, e := os.ReadFile(availablePath)
		if e != nil {
			have = []byte("unknown: " + e.Error())
		}
		return fmt.Errorf("this kernel has no congestion control %q "+
			"(CONFIG_TCP_CONG_%s, perhaps a module: modprobe tcp_%s): it has %s (%s)",
			control, strings.ToUpper(control), control, strings.Join(strings.Fields(string(have)), ", "), availablePath)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("congestion control %q: %w: it takes CAP_NET_ADMIN in the namespace", control, err)
	}
	return os.NewSyscallError("setsockopt TCP_CONGESTION", err)
}

// reset closes a connection at once, with an RST to the other side. What is
// buffered is lost.
func reset(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	unix.Close(fd)
}

// socketError returns and clears a socket's pending error.
func socketError(fd int) error {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if code != 0 {
		return unix.Errno(code)
	}
	return nil
}

// A vector has the pieces that one system call sends.
type vector struct {
	pieces []unix.Iovec
	length Bytes
}

// maxPieces is the kernel's limit (UIO_MAXIOV).
const maxPieces = 1024

func (v *vector) reset() { v.pieces, v.length = v.pieces[:0], 0 }

// add appends bytes, at least one, which must stay in place until they are
// sent.
func (v *vector) add(b []byte) {
	p := unix.Iovec{Base: &b[0]}
	p.SetLen(len(b))
	v.pieces = append(v.pieces, p)
	v.length += Bytes(len(b))
}

// send writes without blocking. If the kernel takes less than all of it, an edge of
// EPOLLOUT follows when there is room again. more means that the rest of the message
// follows, so that the kernel fills its segments.
func (v *vector) send(fd int, more bool) (Bytes, error) {
	flags := unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	if more {
		flags |= unix.MSG_MORE
	}
	header := unix.Msghdr{Iov: &v.pieces[0]}
	header.SetIovlen(len(v.pieces))
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&header)), uintptr(flags))
		switch errno {
		case 0:
			return Bytes(n), nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// receive reads without blocking. 0 bytes mean the end of the connection; if
// fewer than asked for are read, nothing is left.
func receive(fd int, b []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
			uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
