//go:build linux

package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"sirdbed/topo"
)

// A Conn is the connecting end of a session.
type Conn struct {
	line *line
	peer netip.Addr

	writing sync.Mutex
	ended   chan struct{} // closed when the other end is gone, or has said Bye
	err     error         // then, nil after Bye
	last    Counts
}

// Connect opens a session with the serving end at an address, from an address of this
// machine's.
func Connect(ctx context.Context, from, to netip.Addr, h Hello) (*Conn, Welcome, error) {
	h.Format, h.Addr = Format, from
	dialer := net.Dialer{Timeout: answerTime, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))}
	tcp, err := dialer.DialContext(ctx, "tcp4", netip.AddrPortFrom(to, Port).String())
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, Welcome{}, fmt.Errorf("nothing serves at %v: start sirdbed node serve there", to)
	case err != nil && ctx.Err() != nil:
		return nil, Welcome{}, ctx.Err()
	case err != nil:
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return nil, Welcome{}, fmt.Errorf("%v does not answer on TCP port %d within %v: is sirdbed node serve "+
				"running there, and does a firewall let it through?", to, Port, answerTime)
		}
		return nil, Welcome{}, fmt.Errorf("connect to %v, TCP port %d: %w", to, Port, plain(err))
	}
	c := &Conn{line: newLine(tcp), peer: to, ended: make(chan struct{})}
	var w Welcome
	if err := c.line.send(h); err == nil {
		err = c.line.receive(&w, answerTime)
		if err == nil && w.Error == "" {
			return c, w, nil
		}
		tcp.Close()
		return nil, w, c.fail(err, w.Error)
	}
	tcp.Close()
	return nil, w, c.fail(err, "")
}

func (c *Conn) fail(err error, theirs string) error {
	if err != nil {
		return fmt.Errorf("%v: %w", c.peer, err)
	}
	return fmt.Errorf("%v refuses: %s", c.peer, theirs)
}

// Agree tells how long credit loops took and returns what both ends go by. From then on
// the session is kept alive, until Close.
func (c *Conn) Agree(loop topo.Loop) (Begin, error) {
	var b Begin
	err := c.line.send(Measured{Loop: loop})
	if err == nil {
		err = c.line.receive(&b, answerTime)
	}
	if err != nil || b.Error != "" {
		return b, c.fail(err, b.Error)
	}
	go c.listen()
	go c.beat()
	return b, nil
}

// listen takes the other end's beats.
func (c *Conn) listen() {
	defer close(c.ended)
	for {
		var b Beat
		if err := c.line.receive(&b, SilentTime); err != nil {
			c.err = fmt.Errorf("%v is gone: %w", c.peer, err)
			return
		}
		if b.Error == "" {
			c.last = b.Counts
		}
		if b.Bye {
			if b.Error != "" {
				c.err = fmt.Errorf("%v: %s", c.peer, b.Error)
			}
			return
		}
	}
}

func (c *Conn) beat() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-tick.C:
			c.send(Beat{})
		}
	}
}

// send sends a beat. Whether that works, listen finds out.
func (c *Conn) send(b Beat) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.line.send(b)
}

// Ended is closed when the other end is gone.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Err returns why the other end is gone, once it is.
func (c *Conn) Err() error { return c.err }

// Bye ends the session in good order and returns what the serving end has had from here.
func (c *Conn) Bye() (Counts, error) {
	c.send(Beat{Bye: true})
	<-c.ended // within SilentTime
	c.line.conn.Close()
	return c.last, c.err
}

// Close ends the session at once.
func (c *Conn) Close() { c.line.conn.Close() }
