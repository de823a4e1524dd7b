//go:build linux

package join

import (
	"errors"
	"io"
	"sync"
)

// A Process is a host process at a peer, as the run sees it: written to as its standard
// input, read from as its standard output. It is safe for one reader and one writer.
type Process struct {
	peer   *Peer
	log    io.Writer
	stderr io.Writer
	output *stream
	once   sync.Once
	ended  chan struct{}
	how    error // after ended
	failed error // the same, of the run's own
}

// Read reads its standard output. It is io.EOF once the process has ended.
func (s *Process) Read(b []byte) (int, error) { return s.output.Read(b) }

// Write writes to its standard input, at least a byte.
func (s *Process) Write(b []byte) (int, error) {
	if err := s.peer.line.send(stdin, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close closes its standard input.
func (s *Process) Close() error { return s.peer.line.send(stdin, nil) }

// Kill kills it. Wait returns soon after that.
func (s *Process) Kill() error { return s.peer.line.send(kill, nil) }

// Wait waits until it has ended, or its peer is gone, and returns how: nil for exit code 0.
func (s *Process) Wait() error {
	<-s.ended
	return errors.Join(s.how, s.failed)
}

func (s *Process) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *Process) end(how error) {
	s.once.Do(func() {
		s.how = how
		s.output.close()
		close(s.ended)
	})
}

// fail kills it for an error of the run's own.
func (s *Process) fail(err error) {
	if s.failed == nil {
		s.failed, s.log = err, io.Discard
		_ = s.Kill() // the peer may be gone
	}
}

// mostUnread is how much a peer's process may write that nobody has read: its status lines
// are short, and the run reads them as they come.
const mostUnread = 16 << 20

var errUnread = errors.New("its host process writes more than the run reads")

// A stream is bytes from one goroutine to another. Putting some never waits.
type stream struct {
	mu     sync.Mutex
	more   sync.Cond
	bytes  []byte
	closed bool
}

func newStream() *stream {
	s := &stream{}
	s.more.L = &s.mu
	return s
}

// put is errUnread where too much has not been read.
func (s *stream) put(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bytes)+len(b) > mostUnread {
		return errUnread
	}
	s.bytes = append(s.bytes, b...)
	s.more.Signal()
	return nil
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.more.Broadcast()
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.bytes) == 0 {
		if s.closed {
			return 0, io.EOF
		}
		s.more.Wait()
	}
	n := copy(b, s.bytes)
	s.bytes = s.bytes[n:]
	return n, nil
}
