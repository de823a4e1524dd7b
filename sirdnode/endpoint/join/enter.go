//go:build linux

package join

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"syscall"

	"sirdbed/sirdnode/clock"
)

// A Seat is the peer's end, once the run has let it in. It is for one goroutine.
type Seat struct {
	Host string // that it is
	line *line
	run  string // where
}

// Enter joins the run at an address, with the token.
func Enter(ctx context.Context, address, token string, about About) (*Seat, error) {
	dialer := net.Dialer{Timeout: answerTime}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("no run waits at %s: start sirdbed run --join-listen there", address)
	case err != nil:
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return nil, fmt.Errorf("%s does not answer within %v: does sirdbed run --join-listen wait there, and "+
				"does a firewall let it through?", address, answerTime)
		}
		return nil, fmt.Errorf("connect to %s: %w", address, plain(err))
	}
	s := &Seat{line: newLine(conn), run: address}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := s.introduce(token, about); err != nil {
		conn.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return s, nil
}

// errImpostor is the error of a run that has not got the token.
var errImpostor = errors.New("what is there has another token than this end")

func (s *Seat) introduce(token string, about About) error {
	var g greeting
	if err := s.line.receiveWords(&g); err != nil {
		return fmt.Errorf("%s: %w", s.run, err)
	}
	if g.Format != format {
		return fmt.Errorf("%s speaks %q, not %q: use the same build of sirdbed at both ends", s.run, g.Format, format)
	}
	nonce := rand.Text()
	h := hello{Nonce: nonce, Proof: prove(token, peerSide, g.Nonce, nonce), About: about}
	var w welcome
	err := s.line.sendWords(h)
	if err == nil {
		err = s.line.receiveWords(&w)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", s.run, err)
	case w.Error != "":
		return fmt.Errorf("%s refuses: %s", s.run, w.Error)
	case !hmac.Equal(w.Proof, prove(token, runSide, g.Nonce, nonce)):
		return fmt.Errorf("%s: %w", s.run, errImpostor)
	}
	s.Host = w.Host
	return nil
}

// Serve starts host processes by a command as the run asks for them, until the run lets
// this end go, or ctx is done. It closes the connection. Runs, if it is not nil, is told of
// each process that has started (true) and ended (false).
func (s *Seat) Serve(ctx context.Context, command []string, runs func(bool)) error {
	defer s.line.conn.Close()
	stopped := make(chan struct{})
	defer close(stopped)
	go s.line.beats(stopped)
	c := &children{line: s.line, command: command, runs: runs}
	defer c.close()
	stop := context.AfterFunc(ctx, func() {
		c.finish(errInterrupted)
		_ = s.line.send(bye, []byte(errInterrupted.Error())) // the run may be gone
		s.line.conn.Close()
	})
	defer stop()
	for {
		over, err := s.take(c)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("the run at %s is gone: %w", s.run, err)
		case over:
			return nil
		}
	}
}

var errInterrupted = errors.New("the peer was interrupted")

// take takes a frame.
func (s *Seat) take(c *children) (over bool, err error) {
	k, b, err := s.line.receive(silentTime)
	if err != nil {
		return false, err
	}
	switch k {
	case beat:
	case probe:
		return false, s.line.answer(b, clock.Monotonic())
	case start:
		return false, c.start()
	case stdin:
		c.write(b)
	case kill:
		c.kill()
	case bye:
		if len(b) > 0 {
			return false, errors.New(string(b))
		}
		return true, nil
	default:
		return false, errStrange
	}
	return false, nil
}
