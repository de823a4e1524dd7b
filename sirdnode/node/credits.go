package node

import (
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/ring"
)

// A creditSocket sends the packets of the ports' credit class, one by one. The
// class drops what exceeds its rate, which is its purpose; a send ring would
// keep such a packet, try it again, and block what is behind it.
type creditSocket struct {
	fd  int
	buf [256]byte // a credit's frame
}

// openCredits opens one on an interface, given by name and index.
func openCredits(iface string, index int) (*creditSocket, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &ring.OpError{Op: "open a socket for credits", Interface: iface, Err: err}
	}
	// Protocol 0: it receives nothing.
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		unix.Close(fd)
		return nil, &ring.OpError{Op: "bind the socket for credits", Interface: iface, Err: err}
	}
	return &creditSocket{fd: fd}, nil
}

// send sends the first n bytes of buf. A full class drops them, and counts that.
func (c *creditSocket) send(n int) error {
	for {
		_, err := unix.Write(c.fd, c.buf[:n])
		switch err {
		case unix.EINTR:
			continue
		case nil, unix.ENOBUFS:
			return nil
		}
		return err
	}
}

func (c *creditSocket) close() { unix.Close(c.fd) }
