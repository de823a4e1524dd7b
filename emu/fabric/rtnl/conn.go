//go:build linux

// Package rtnl speaks rtnetlink to one network namespace: requests by the
// hundred in one system call, and dumps parsed where they lie.
//
// vishvananda/netlink covers neither HTB's per-packet overhead nor RED, and
// waits for an answer to each request; a fabric of 144 hosts takes some 6,000.
// Requests and attributes are those of rtnetlink(7), include/uapi/linux/rtnetlink.h.
package rtnl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// chunkBytes is what goes to the kernel in one system call. It must stay
	// below a socket's default send buffer (212,992 bytes).
	chunkBytes = 64 << 10
	// receiveBytes has room for the largest part of a dump that the kernel makes
	// (32 KiB).
	receiveBytes = 64 << 10
	// timeoutSeconds bounds every wait for the kernel. It answers in the call
	// itself, so that only a stalled machine comes near.
	timeoutSeconds = 20
)

// An OpError is a request that the kernel refused.
type OpError struct {
	Op     string // "add qdisc htb"
	Device string // the interface, may be empty
	Reason string // the kernel's own words, may be empty
	Err    error  // a unix.Errno
}

func (e *OpError) Error() string {
	s := e.Op
	if e.Device != "" {
		s += " at " + e.Device
	}
	s += ": " + e.Err.Error()
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s
}

// Unwrap returns the errno.
func (e *OpError) Unwrap() error { return e.Err }

// A Conn is an rtnetlink socket. It stays in the network namespace in which it
// was opened, whichever thread uses it, and keeps that namespace alive. It is
// safe for concurrent use.
type Conn struct {
	mu      sync.Mutex
	fd      int
	seq     uint32
	receive []byte
}

// Open opens a socket in the calling thread's network namespace.
func Open() (*Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open rtnetlink socket: %w", err)
	}
	c := &Conn{fd: fd}
	for _, o := range []struct{ level, name int }{
		{unix.SOL_NETLINK, unix.NETLINK_EXT_ACK}, // errors in words
		{unix.SOL_NETLINK, unix.NETLINK_CAP_ACK}, // without the request sent back
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, 1); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("set up rtnetlink socket: %w", err)
		}
	}
	tv := unix.Timeval{Sec: timeoutSeconds}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("set up rtnetlink socket: %w", err)
	}
	return c, nil
}

// Do carries a batch out over a socket of its own, in the calling thread's network
// namespace.
func Do(b *Batch) error {
	c, err := Open()
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Do(b)
}

// Close closes the socket. Closing twice does nothing.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return nil
	}
	err := unix.Close(c.fd)
	c.fd = -1
	return err
}

// Ask carries out a batch of requests that the kernel answers with objects, and calls
// each with every object's message body, which is valid during the call only.
func (c *Conn) Ask(b *Batch, each func(typ uint16, body []byte)) error { return c.do(b, each) }

// Do carries a batch out, in order. The kernel goes on behind a request that
// fails; Do stops at the end of the chunk in which that happened and returns
// the first failure as an *OpError.
func (c *Conn) Do(b *Batch) error { return c.do(b, func(uint16, []byte) {}) }

func (c *Conn) do(b *Batch, each func(typ uint16, body []byte)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(b.requests); {
		first := c.seq + 1
		n, chunk := b.next(i, chunkBytes, first)
		c.seq += uint32(n)
		if err := c.send(chunk); err != nil {
			return &OpError{Op: b.requests[i].op, Device: b.requests[i].device, Err: err}
		}
		if err := c.acknowledged(b.requests[i:i+n], first, each); err != nil {
			return err
		}
		i += n
	}
	return nil
}

func (c *Conn) send(b []byte) error {
	for {
		err := unix.Sendto(c.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if err != unix.EINTR {
			return err
		}
	}
}

// acknowledged waits until the last of requests, whose first has the given
// sequence number, is acknowledged, and passes on what is answered besides.
func (c *Conn) acknowledged(
	requests []request, first uint32, each func(typ uint16, body []byte),
) (failure error) {
	last := first + uint32(len(requests)) - 1
	for {
		b, err := c.read()
		if err != nil {
			return &OpError{Op: "await the answer to " + requests[0].op, Device: requests[0].device, Err: err}
		}
		done := false
		err = eachMessage(b, func(typ, _ uint16, seq uint32, body []byte) error {
			if seq-first > last-first {
				return nil // left over from a request given up
			}
			if typ != unix.NLMSG_ERROR {
				each(typ, body)
				return nil
			}
			if errno := errnoOf(body); errno != 0 && failure == nil {
				r := requests[seq-first]
				failure = &OpError{Op: r.op, Device: r.device, Reason: reasonOf(body), Err: errno}
			}
			done = done || seq == last
			return nil
		})
		if err != nil {
			return err
		}
		if done {
			return failure
		}
	}
}

// Dump asks for all objects of a type and calls each with every object's
// message body, which is valid during the call only. body is the request's
// fixed part. It allocates nothing once warm.
func (c *Conn) Dump(op string, typ uint16, body []byte, each func(typ uint16, body []byte) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var request [64]byte
	c.seq++
	n := unix.SizeofNlMsghdr + copy(request[unix.SizeofNlMsghdr:], body)
	binary.NativeEndian.PutUint32(request[0:], uint32(n))
	binary.NativeEndian.PutUint16(request[4:], typ)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(request[8:], c.seq)
	if err := c.send(request[:n]); err != nil {
		return &OpError{Op: op, Err: err}
	}
	var failure error
	for done := false; !done; {
		b, err := c.read()
		if err != nil {
			return &OpError{Op: op, Err: err}
		}
		err = eachMessage(b, func(typ, _ uint16, seq uint32, body []byte) error {
			switch {
			case seq != c.seq:
			case typ == unix.NLMSG_DONE:
				done = true // or broken off, with an errno
				if errno := errnoOf(body); len(body) >= 4 && errno != 0 && failure == nil {
					failure = &OpError{Op: op, Err: errno}
				}
			case typ == unix.NLMSG_ERROR:
				done = true
				failure = &OpError{Op: op, Reason: reasonOf(body), Err: errnoOf(body)}
			case failure == nil:
				failure = each(typ, body)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return failure
}

func (c *Conn) read() ([]byte, error) {
	if c.receive == nil {
		c.receive = make([]byte, receiveBytes)
	}
	for {
		n, err := unix.Read(c.fd, c.receive)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == len(c.receive) {
			err = errors.New("answer longer than the buffer")
		}
		return c.receive[:max(n, 0)], err
	}
}

// Ethtool carries out one of the legacy ethtool commands that set or get a 32-bit
// value of an interface (ETHTOOL_STXCSUM, ETHTOOL_GTXCSUM and their like), and
// returns the value.
func (c *Conn) Ethtool(device string, command, value uint32) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	arg := struct{ command, value uint32 }{command, value} // struct ethtool_value
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of the kernel's union
	}
	copy(ifr.name[:unix.IFNAMSIZ-1], device)
	ifr.data = unsafe.Pointer(&arg)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	if errno != 0 {
		return 0, &OpError{Op: fmt.Sprintf("ethtool command %#x", command), Device: device, Err: errno}
	}
	return arg.value, nil
}
