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
)

// A Keeper is the endpoint that serves sessions. Its methods are called by the sessions'
// goroutines.
type Keeper interface {
	// Greet decides on a peer that has connected, and from then on answers its credit
	// loops. id tells the session from others, for the other methods.
	Greet(id int, from netip.Addr, h Hello) Welcome
	// Agree returns what to go by.
	Agree(id int, m Measured) Begin
	// Counts returns what has come from a peer.
	Counts(id int) Counts
	// Leave ends a session that Greet has welcomed. err is nil if the peer said Bye.
	Leave(id int, err error)
}

// most is how many connections there are at once: further ones wait.
const most = 256

// Serve serves sessions at an address of this machine's until ctx is done, and then tells
// all peers.
func Serve(ctx context.Context, at netip.Addr, k Keeper) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", netip.AddrPortFrom(at, Port).String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another sirdbed node serves at %v", at)
	}
	if err != nil {
		return fmt.Errorf("listen at %v, TCP port %d: %w", at, Port, plain(err))
	}
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, most)
	for id := 0; ; id++ {
		places <- struct{}{}
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept sessions at %v: %w", at, plain(err))
		}
		all.Go(func() {
			serveOne(ctx, k, id, conn)
			<-places
		})
	}
}

// serveOne is the life of a session.
func serveOne(ctx context.Context, k Keeper, id int, conn net.Conn) {
	defer conn.Close()
	l := newLine(conn)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	var h Hello
	if l.receive(&h, answerTime) != nil {
		return // a stranger
	}
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	if h.Format != Format {
		_ = l.send(Welcome{Error: fmt.Sprintf("it speaks %q, not %q: use the same build of sirdbed at both ends",
			Format, h.Format)})
		return
	}
	if !stop() {
		return
	}
	w := k.Greet(id, from, h)
	if w.Error != "" {
		_ = l.send(w)
		return
	}
	last, err := talk(ctx, k, id, l, w)
	k.Leave(id, err)
	if err == nil { // the peer waits for this, and nothing goes to it any more
		_ = l.send(last)
	}
}

// stopTime is how long a server that is stopped waits for each peer.
const stopTime = time.Second

// talk goes on with a peer that is welcome, until it goes, or the server is stopped. It
// returns what to say last.
func talk(ctx context.Context, k Keeper, id int, l *line, w Welcome) (last Beat, err error) {
	stop := context.AfterFunc(ctx, func() { l.conn.Close() })
	defer stop()
	if err := l.send(w); err != nil {
		return last, err
	}
	var m Measured
	if err := l.receive(&m, loopsTime); err != nil {
		return last, err
	}
	b := k.Agree(id, m)
	if !stop() {
		return last, ErrGone
	}
	if err := l.send(b); err != nil || b.Error != "" {
		return last, errors.Join(err, errorOf(b.Error))
	}
	heard := make(chan error, 1)
	go func() {
		for {
			var b Beat
			err := l.receive(&b, SilentTime)
			if err != nil || b.Bye {
				heard <- err
				return
			}
		}
	}()
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-heard:
			return Beat{Bye: true, Counts: k.Counts(id)}, err
		case <-ctx.Done():
			last = Beat{Bye: true, Error: "it has been stopped"}
			if l.send(last) == nil {
				select { // the peer sends until it hears of that
				case <-heard:
				case <-time.After(stopTime):
				}
			}
			return last, errors.New(last.Error)
		case <-tick.C:
			if err := l.send(Beat{Counts: k.Counts(id)}); err != nil {
				return last, err
			}
		}
	}
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}
