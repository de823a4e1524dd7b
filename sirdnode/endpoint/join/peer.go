//go:build linux

package join

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"sirdbed/sirdnode/clock"
)

// A Peer is one that has joined, as the run sees it. Its methods are safe for concurrent
// use; it has one host process at a time.
type Peer struct {
	About

	line    *line
	welcome bool // and knows of it; guarded by the Gate
	answers chan exchange
	gone    chan struct{} // closed when it is
	err     error         // then, why

	mu      sync.Mutex
	process *Process // the latest
}

func newPeer(l *line, a About) *Peer {
	return &Peer{About: a, line: l, answers: make(chan exchange, 1), gone: make(chan struct{})}
}

// Address is where it has come from.
func (p *Peer) Address() string { return p.line.conn.RemoteAddr().String() }

// String says where it is.
func (p *Peer) String() string { return fmt.Sprintf("%s at %s", p.Interface, p.Address()) }

func (p *Peer) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// dismiss lets it go.
func (p *Peer) dismiss() {
	_ = p.line.send(bye, nil) // it may be gone
	p.line.conn.Close()
}

// serve takes what it sends, until it is gone.
func (p *Peer) serve() {
	go p.line.beats(p.gone)
	for {
		if err := p.take(); err != nil {
			p.leave(err)
			return
		}
	}
}

// leave has it gone, for a reason.
func (p *Peer) leave(why error) {
	p.err = why
	close(p.gone)
	if s := p.latest(); s != nil {
		s.end(why)
	}
}

func (p *Peer) latest() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// take takes a frame.
func (p *Peer) take() error {
	k, b, err := p.line.receive(silentTime)
	if err != nil {
		return err
	}
	s := p.latest()
	if s == nil && (k == stdout || k == stderr || k == records || k == ended) {
		return errStrange
	}
	switch k {
	case beat:
	case probe:
		e, err := answered(b, clock.Monotonic())
		if err != nil {
			return err
		}
		select {
		case p.answers <- e:
		default: // nobody waits for it any more
		}
	case stdout:
		return s.output.put(b)
	case stderr:
		_, _ = s.stderr.Write(b) // which nobody misses
	case records:
		if _, err := s.log.Write(b); err != nil {
			s.fail(fmt.Errorf("writing the log: %w", err))
		}
	case ended:
		var how error
		if len(b) > 0 {
			how = errors.New(string(b))
		}
		s.end(how)
	case bye:
		return errors.New(string(b))
	default:
		return errStrange
	}
	return nil
}

// Start starts a host process at the peer. Its log and its standard error go to writers,
// until it has ended.
func (p *Peer) Start(log, stderr io.Writer) (*Process, error) {
	s := &Process{peer: p, log: log, stderr: stderr, output: newStream(), ended: make(chan struct{})}
	p.mu.Lock()
	if p.process != nil && !p.process.hasEnded() {
		p.mu.Unlock()
		return nil, fmt.Errorf("%v: its last host process has not ended", p)
	}
	p.process = s
	p.mu.Unlock()
	if p.isGone() {
		s.end(p.err)
		return nil, fmt.Errorf("%v: %w", p, p.err)
	}
	if err := p.line.send(start, nil); err != nil {
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	return s, nil
}
