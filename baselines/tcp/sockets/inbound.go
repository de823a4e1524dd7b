//go:build linux

package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// An inbound is a connection that a peer has opened.
type inbound struct {
	driver *Driver
	fd     int
	peer   transport.HostID

	head     [frameLen]byte
	headRead int // bytes of head that have arrived
	m        transport.Message
	offset   Bytes // of m up to which payload has arrived

	acks []byte // not taken by the kernel yet
}

// accept takes a connection if it comes from a host of the fabric.
func (d *Driver) accept(fd int, from unix.Sockaddr) {
	remote, ok := from.(*unix.SockaddrInet4)
	if !ok {
		unix.Close(fd)
		return
	}
	addr := topo.Addr(remote.Addr)
	host, _, ok := d.env.Fabric.HostOf(addr)
	if !ok || addr != d.env.Fabric.KernelAddr(host) || host == d.env.Self {
		d.refuse(fd, fmt.Sprintf("a connection from %v, which is no other host's kernel", addr))
		return
	}
	c := &inbound{driver: d, fd: fd, peer: host}
	if err := d.poller.add(fd, unix.EPOLLIN, c); err != nil {
		d.refuse(fd, err.Error())
		return
	}
	d.inbound[fd] = c
}

// refuse resets a connection that was not expected, and notes why.
func (d *Driver) refuse(fd int, why string) {
	reset(fd)
	d.env.Sink.Count(brokenFrames, 1)
	d.env.Note("closed: " + why)
}

func (c *inbound) close() {
	delete(c.driver.inbound, c.fd)
	c.driver.poller.remove(c.fd)
	reset(c.fd)
}

// ready implements watcher. It reads once; epoll reports again what is left.
func (c *inbound) ready(now Time, events uint32) {
	if events&unix.EPOLLOUT != 0 {
		if err := c.acknowledge(nil); err != nil {
			c.broken(err)
			return
		}
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	n, err := receive(c.fd, c.driver.buffer)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return
	case err == nil && n == 0:
		err = errClosed
	case err == nil:
		err = c.take(now, c.driver.buffer[:n])
	}
	if err != nil {
		c.broken(err)
	}
}

// broken closes the connection. The sender notices, and fails its message.
func (c *inbound) broken(err error) {
	d := c.driver
	name := d.env.Fabric.HostName(c.peer)
	switch {
	case errors.Is(err, errNotFrame):
		d.countBroken(err)
		d.env.Note(fmt.Sprintf("closed: a connection from %s: %v", name, err))
	case c.headRead > 0:
		d.countBroken(err)
		d.env.Note(fmt.Sprintf("a connection from %s broke after %d of %d bytes of a message: %v",
			name, c.offset, c.m.Size, err))
	}
	c.close()
}

// take reads frames and payload.
func (c *inbound) take(now Time, b []byte) error {
	sink := c.driver.env.Sink
	for len(b) > 0 {
		if c.headRead < frameLen {
			n := copy(c.head[c.headRead:], b)
			b = b[n:]
			if c.headRead += n; c.headRead < frameLen {
				return nil
			}
			if err := c.begin(); err != nil {
				return err
			}
			continue
		}
		n := int(min(Bytes(len(b)), c.m.Size-c.offset, transport.MaxPayload))
		sink.Data(now, c.m, c.offset, n, b[:n])
		b = b[n:]
		if c.offset += Bytes(n); c.offset < c.m.Size {
			continue
		}
		sink.Delivered(now, c.m)
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the frame of a message.
func (c *inbound) begin() error {
	var f frame
	if err := f.decode(&c.head); err != nil {
		return err
	}
	if self := uint16(c.driver.env.Self); f.kind != kindMessage || f.src != uint16(c.peer) || f.dst != self {
		return fmt.Errorf("%w of a message from host %d to host %d: %+v", errNotFrame, c.peer, self, f)
	}
	c.m, c.offset = f.message(c.peer), 0
	return nil
}

// end acknowledges the message; the next one may follow.
func (c *inbound) end() error {
	f := frame{
		kind: kindAck, src: uint16(c.peer), dst: uint16(c.driver.env.Self),
		id: uint32(c.m.ID), tag: uint32(c.m.Tag), size: uint64(c.m.Size),
	}
	f.encode(&c.head)
	c.headRead = 0
	return c.acknowledge(c.head[:])
}

// acknowledge writes an acknowledgement, after those that still wait for the
// kernel.
func (c *inbound) acknowledge(ack []byte) error {
	waited := len(c.acks) > 0
	c.acks = append(c.acks, ack...)
	if len(c.acks) == 0 {
		return nil
	}
	v := &c.driver.vector
	v.reset()
	v.add(c.acks)
	n, err := v.send(c.fd, false)
	if err != nil {
		return err
	}
	c.acks = c.acks[:copy(c.acks, c.acks[n:])]
	switch waits := len(c.acks) > 0; {
	case waits && !waited:
		return c.driver.poller.change(c.fd, unix.EPOLLIN|unix.EPOLLOUT)
	case waited && !waits:
		return c.driver.poller.change(c.fd, unix.EPOLLIN)
	}
	return nil
}
