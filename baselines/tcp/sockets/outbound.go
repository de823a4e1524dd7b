//go:build linux

package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/transport"
)

// An outbound is a connection to a peer, for one message at a time.
type outbound struct {
	driver    *Driver
	peer      *peer
	fd        int // -1: not open
	connected bool

	busy bool
	m    transport.Message
	head [frameLen]byte // the frame of m
	sent Bytes          // of frame and payload, taken by the kernel

	ack     [frameLen]byte
	ackRead int // bytes of ack
}

// open starts to connect, unless the socket is open.
func (c *outbound) open() error {
	if c.fd >= 0 {
		return nil
	}
	d := c.driver
	fd, err := dial(d.env.Fabric.KernelAddr(d.env.Self), d.env.Fabric.KernelAddr(c.peer.id), d.params.CongestionControl)
	if err != nil {
		return err
	}
	// Edge-triggered, since a connection is almost always writable.
	if err := d.poller.add(fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET, c); err != nil {
		unix.Close(fd)
		return err
	}
	c.fd, c.connected, c.ackRead = fd, false, 0
	return nil
}

// close resets the connection.
func (c *outbound) close() {
	if c.fd < 0 {
		return
	}
	c.driver.poller.remove(c.fd)
	reset(c.fd)
	c.fd, c.connected = -1, false
}

// carry sends a message. If that fails it goes on to the next one that waits for a
// connection.
func (c *outbound) carry(now Time, m transport.Message) {
	for ok := true; ok; m, ok = c.peer.pool.Release(c) {
		c.m, c.busy, c.sent = m, true, 0
		f := frameOf(c.driver.env.Self, m)
		f.encode(&c.head)
		err := c.open()
		if err == nil && c.connected {
			err = c.push()
		}
		if err == nil {
			return
		}
		c.fail(now, err)
	}
}

// push hands the kernel as much as it will take, in one system call.
func (c *outbound) push() error {
	total := frameLen + c.m.Size
	if c.sent == total {
		return nil
	}
	v := &c.driver.vector
	v.reset()
	at := c.sent
	if at < frameLen {
		v.add(c.head[at:])
		at = frameLen
	}
	for at < total && len(v.pieces) < c.driver.pieces {
		n := int(min(total-at, transport.MaxPayload))
		v.add(c.driver.env.Payload(c.m, at-frameLen, n))
		at += Bytes(n)
	}
	n, err := v.send(c.fd, at < total)
	c.sent += n
	return err
}

// ready implements watcher.
func (c *outbound) ready(now Time, events uint32) {
	if !c.connected {
		if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) == 0 {
			return
		}
		if err := socketError(c.fd); err != nil {
			c.broken(now, fmt.Errorf("connect: %w", err))
			return
		}
		c.connected = true
	}
	if events&^unix.EPOLLOUT != 0 {
		if err := c.receive(now, events&^(unix.EPOLLIN|unix.EPOLLOUT) != 0); err != nil {
			c.broken(now, err)
			return
		}
	}
	if c.fd >= 0 && c.busy {
		if err := c.push(); err != nil {
			c.broken(now, err)
		}
	}
}

var errClosed = errors.New("the other side has closed the connection")

// receive reads an acknowledgement, or the part of it that has arrived. ended means
// that nothing will follow.
func (c *outbound) receive(now Time, ended bool) error {
	for {
		b := c.driver.buffer
		n, err := receive(c.fd, b)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return err
		case n == 0:
			return errClosed
		case c.ackRead+n > frameLen:
			return fmt.Errorf("%w: %d bytes, where %d acknowledge a message", errNotFrame, c.ackRead+n, frameLen)
		}
		c.ackRead += copy(c.ack[c.ackRead:], b[:n])
		if c.ackRead == frameLen {
			if err := c.acknowledged(); err != nil {
				return err
			}
			c.done(now)
		}
		if !ended || c.fd < 0 {
			return nil
		}
	}
}

// acknowledged checks the acknowledgement of the message.
func (c *outbound) acknowledged() error {
	c.ackRead = 0
	var f frame
	if err := f.decode(&c.ack); err != nil {
		return err
	}
	want := frameOf(c.driver.env.Self, c.m)
	if want.kind = kindAck; f != want || !c.busy || c.sent < frameLen+c.m.Size {
		return fmt.Errorf("%w that was to be expected: %+v", errNotFrame, f)
	}
	return nil
}

// done finishes a message that has arrived, and starts the next one.
func (c *outbound) done(now Time) {
	c.busy = false
	c.driver.env.Sink.Acked(now, c.m)
	c.peer.pool.Settle(c.m.ID)
	if m, ok := c.peer.pool.Release(c); ok {
		c.carry(now, m)
	}
}

// broken closes a connection that cannot be used any more, and sends the next
// message on a new one.
func (c *outbound) broken(now Time, err error) {
	if !c.busy { // it is opened again when needed
		c.close()
		return
	}
	c.fail(now, err)
	if m, ok := c.peer.pool.Release(c); ok {
		c.carry(now, m)
	}
}

// fail gives up the message, and closes the connection.
func (c *outbound) fail(now Time, err error) {
	d := c.driver
	d.countBroken(err)
	c.close()
	c.busy = false
	d.env.Sink.Failed(now, c.m, fmt.Sprintf("connection to %s: %v", d.env.Fabric.HostName(c.peer.id), err))
	c.peer.pool.Settle(c.m.ID)
}

// countBroken counts a connection that ended with an error.
func (d *Driver) countBroken(err error) {
	d.env.Sink.Count(brokenConnections, 1)
	if errors.Is(err, errNotFrame) {
		d.env.Sink.Count(brokenFrames, 1)
	}
}
