//go:build linux

package node

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Programs of a host send and receive messages by a Unix socket of its process. One epoll
// descriptor stands for all their connections in the host's loop, which reads and writes
// as much as is possible without waiting. Nothing here asks for the time.

// programs are the connections of a host's programs. A nil *programs has none.
type programs struct {
	host   *host.Host
	broker *broker.Broker

	listener, epoll int
	path            string // of the socket, "" for one without a file
	list            []*connection
	events          [32]unix.EpollEvent
	unasked         int // turns of the loop in which the descriptor was not polled
	buf             [64 << 10]byte
}

// A connection is one of a program.
type connection struct {
	fd     int
	client *broker.Client
	events uint32 // that the descriptor waits for
	closed bool
}

const (
	// maxReads is how often a connection is read from before others have their turn.
	maxReads = 4
	// maxUnasked is after how many turns connections are looked at, although frames from
	// the network have kept the loop from polling.
	maxUnasked = 16
	// maxRounds is how often what programs send is served before the loop goes on.
	maxRounds = 4
)

// openPrograms listens for the programs of a host.
func openPrograms(h *host.Host, f *topo.Fabric, self topo.HostID, address string) (p *programs, err error) {
	p = &programs{host: h, broker: broker.New(f, self, broker.DefaultLimits), listener: -1, epoll: -1}
	defer func() {
		if err != nil {
			p.close()
			p, err = nil, fmt.Errorf("the socket %s for programs of %s: %w", address, f.HostName(self), err)
		}
	}()
	const kind = unix.SOCK_STREAM | unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	if p.listener, err = unix.Socket(unix.AF_UNIX, kind, 0); err != nil {
		return p, err
	}
	if err = unix.Bind(p.listener, &unix.SockaddrUnix{Name: address}); err != nil {
		return p, err
	}
	if !strings.HasPrefix(address, "@") {
		p.path = address
	}
	if err = unix.Listen(p.listener, broker.DefaultLimits.Clients); err != nil {
		return p, err
	}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return p, err
	}
	if err = p.watch(unix.EPOLL_CTL_ADD, p.listener, unix.EPOLLIN); err != nil {
		return p, err
	}
	h.Serve(p.broker)
	return p, nil
}

func (p *programs) watch(op, fd int, events uint32) error {
	return unix.EpollCtl(p.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// servePrograms does what programs want, and what arrived for them. It returns what the
// loop has to poll besides its socket, as it was given it, with the programs' descriptor
// or without.
func (n *node) servePrograms(now units.Time, extra []unix.PollFd) ([]unix.PollFd, error) {
	p := n.programs
	if p == nil {
		return extra[:1], nil
	}
	if len(extra) == 1 {
		extra = append(extra, unix.PollFd{Fd: int32(p.epoll), Events: unix.POLLIN, Revents: unix.POLLIN})
	}
	if p.unasked++; extra[1].Revents != 0 || p.unasked >= maxUnasked {
		extra[1].Revents, p.unasked = 0, 0
		if err := p.read(); err != nil {
			return extra, err
		}
	}
	for range maxRounds {
		now = max(now, n.last)
		if !p.broker.Flush(now, p.host) {
			break
		}
		n.last = now
		if err := n.serve(now); err != nil {
			return extra, err
		}
	}
	p.write()
	return extra, nil
}

// busy reports that something is left to be sent.
func (p *programs) busy() bool { return p != nil && p.broker.Waiting() }

// read takes what programs have written, and new connections.
func (p *programs) read() error {
	n, err := unix.EpollWait(p.epoll, p.events[:], 0)
	if err == unix.EINTR {
		return nil
	}
	if err != nil {
		return fmt.Errorf("waiting for programs: %w", err)
	}
	for _, e := range p.events[:n] {
		if int(e.Fd) == p.listener {
			if err := p.accept(); err != nil {
				return err
			}
			continue
		}
		for _, c := range p.list {
			if c.fd == int(e.Fd) {
				p.take(c, e.Events)
			}
		}
	}
	return nil
}

func (p *programs) accept() error {
	for range maxReads {
		fd, _, err := unix.Accept4(p.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN, unix.EINTR, unix.ECONNABORTED:
			return nil
		default:
			return fmt.Errorf("accepting a program's connection: %w", err)
		}
		client := p.broker.Connect()
		if client == nil || p.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
			client.Close()
			unix.Close(fd)
			continue
		}
		p.list = append(p.list, &connection{fd: fd, client: client, events: unix.EPOLLIN})
	}
	return nil
}

// take reads what a program has written, as long as its host has room for it.
func (p *programs) take(c *connection, events uint32) {
	for range maxReads {
		if !c.client.Wants() {
			break
		}
		n, err := unix.Read(c.fd, p.buf[:])
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			return
		case err != nil || n == 0:
			c.closed = true
			return
		}
		c.client.Feed(p.buf[:n])
		if n < len(p.buf) {
			return // more wakes the loop up again
		}
	}
	if !c.client.Wants() && events&(unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.closed = true // nobody is there to be read from later, nor to be told
	}
}

// write writes to programs what their sockets take, and closes what is over.
func (p *programs) write() {
	for _, c := range p.list {
		for !c.closed {
			out := c.client.Output()
			if out == nil {
				c.closed = c.client.Ending()
				break
			}
			n, err := unix.Write(c.fd, out)
			if err == unix.EAGAIN || err == unix.EINTR {
				break
			}
			if err != nil {
				c.closed = true
				break
			}
			c.client.Wrote(n)
		}
	}
	kept := p.list[:0]
	for _, c := range p.list {
		if c.closed {
			c.client.Close()
			unix.Close(c.fd) // which the epoll descriptor notices
			continue
		}
		kept = append(kept, c)
	}
	clear(p.list[len(kept):])
	p.list = kept
	for _, c := range p.list {
		p.update(c)
	}
}

// update has the descriptor wait for what a connection can go on with.
func (p *programs) update(c *connection) {
	events := uint32(0)
	if c.client.Wants() {
		events |= unix.EPOLLIN
	}
	if c.client.Output() != nil {
		events |= unix.EPOLLOUT
	}
	if events != c.events && p.watch(unix.EPOLL_CTL_MOD, c.fd, events) == nil {
		c.events = events
	}
}

// end has programs know that the run is over, and ends their connections.
func (p *programs) end() {
	if p == nil {
		return
	}
	for _, c := range p.list {
		c.client.Farewell(frame.Ended, "the run is over")
	}
	p.write()
	p.close()
}

// close gives back all descriptors.
func (p *programs) close() {
	if p == nil {
		return
	}
	for _, c := range p.list {
		unix.Close(c.fd)
	}
	p.list = nil
	for _, fd := range []*int{&p.listener, &p.epoll} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	if p.path != "" {
		_ = unix.Unlink(p.path) // it may be gone
	}
}
