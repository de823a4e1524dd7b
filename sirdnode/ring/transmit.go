//go:build linux

package ring

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// ErrBackPressure is what Flush's errors match when the kernel cannot take more
// frames now. The frames stay in the ring, in order, and the next Flush tries
// again.
var ErrBackPressure = errors.New("back-pressure")

// The two kinds of back-pressure.
var (
	// ErrSendBufferFull: the kernel has as many of the socket's frames as
	// its send buffer allows (EAGAIN). Wait returns with Sendable when half of
	// it is free.
	ErrSendBufferFull error = &pressure{"send buffer full"}
	// ErrQueueFull: the interface's qdisc, or the receiving processor's backlog
	// behind a veth, dropped the frame (ENOBUFS); it stays in the ring. Nothing
	// tells when there is room: try again a packet time later. The qdisc counts a
	// drop for each try.
	ErrQueueFull error = &pressure{"queue full"}
)

type pressure struct{ what string }

func (p *pressure) Error() string        { return p.what }
func (p *pressure) Is(target error) bool { return target == ErrBackPressure }

// A FormatError is a frame that the kernel refused for its length or header
// (TP_STATUS_WRONG_FORMAT). The frame is gone; those behind it were sent.
type FormatError struct {
	Length int
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the kernel refused a frame of %d bytes: %v", e.Length, e.Err)
}

// Unwrap returns the kernel's error.
func (e *FormatError) Unwrap() error { return e.Err }

// Reserve returns the memory of the next frame to send, as long as the longest
// frame that the MTU allows, or nil when the ring is full. It may still have the
// bytes of an earlier frame. Until Commit, Reserve returns the same memory
// again; Flush may move it.
//
// A frame is in use until the kernel is done with it, which is when it has left
// the interface's qdisc. The ring is used in order: a frame that waits in a
// qdisc keeps those behind it from being reused. Nothing tells when there is
// room again, except that frames leave.
func (s *Socket) Reserve() []byte {
	if atomic.LoadUint32(&s.tx.header(s.committed).Status) != unix.TP_STATUS_AVAILABLE {
		return nil
	}
	return s.tx.frame(s.committed)[sendOffset : sendOffset+s.maxSend : sendOffset+s.maxSend]
}

// Commit queues the frame in the memory that Reserve returned, n bytes long.
// It is sent by Flush. n must be from 0 to what Reserve returned, and Reserve
// must have returned memory: anything else is the caller's error and panics.
func (s *Socket) Commit(n int) {
	h := s.tx.header(s.committed)
	if n < 0 || n > s.maxSend || atomic.LoadUint32(&h.Status) != unix.TP_STATUS_AVAILABLE {
		panic(fmt.Sprintf("ring: Commit(%d) with room for %d bytes, ring full: %v", n, s.maxSend, s.Reserve() == nil))
	}
	if s.committed-s.done == uint64(s.tx.count) {
		s.reap() // the oldest frame is this one, and done
	}
	h.Len, h.Snaplen = uint32(n), uint32(n)
	atomic.StoreUint32(&h.Status, unix.TP_STATUS_SEND_REQUEST)
	s.committed++
}

// Flush hands all committed frames to the kernel, in one system call. It
// returns an error that matches ErrBackPressure when some had to stay in the
// ring, a *FormatError when some were refused (the first of them), and an
// *OpError when the interface is down or gone. It does nothing when nothing is
// committed, and it never blocks.
func (s *Socket) Flush() error {
	s.atWait = false
	if s.committed == s.taken {
		return nil
	}
	return s.sent(s.send())
}

// send asks the kernel to take what is committed.
func (s *Socket) send() unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return errno
}

// sent sees what the kernel has taken, which answered errno, and asks it again where a
// frame that it refused was in the way.
func (s *Socket) sent(errno unix.Errno) error {
	var refused error
	for ; ; errno = s.send() {
		status := s.advance()
		s.blocked = false
		switch {
		case s.committed == s.taken:
		case status == unix.TP_STATUS_WRONG_FORMAT:
			if err := s.discard(errno); refused == nil {
				refused = err
			}
		case errno == unix.EAGAIN, errno == 0: // a partial batch ends so too
			s.blocked = true
			return firstOf(refused, ErrSendBufferFull)
		case errno == unix.ENOBUFS:
			return firstOf(refused, ErrQueueFull)
		case errno == unix.EINTR:
		default:
			return firstOf(refused, s.link.fail("send", errno))
		}
		if s.committed == s.taken {
			return refused
		}
	}
}

// firstOf joins only when it must, since joining allocates.
func firstOf(refused, err error) error {
	if refused == nil {
		return err
	}
	return errors.Join(refused, err)
}

// advance passes over the frames that the kernel has taken and returns the
// status of the first that it has not.
func (s *Socket) advance() (status uint32) {
	for s.taken != s.committed {
		status = atomic.LoadUint32(&s.tx.header(s.taken).Status)
		if status == unix.TP_STATUS_SEND_REQUEST || status == unix.TP_STATUS_WRONG_FORMAT {
			return status
		}
		s.taken++
	}
	return unix.TP_STATUS_AVAILABLE
}

// discard removes the first frame not taken, which the kernel refused. The
// kernel goes on looking at its place in the ring, so those behind it move up.
func (s *Socket) discard(errno unix.Errno) error {
	s.stats.WrongFormat++
	bad := &FormatError{Length: int(s.tx.header(s.taken).Len), Err: errno}
	for n := s.taken; n+1 < s.committed; n++ {
		to, from := s.tx.header(n), s.tx.header(n+1)
		copy(s.tx.frame(n)[sendOffset:], s.tx.frame(n + 1)[sendOffset:sendOffset+from.Len])
		to.Len, to.Snaplen = from.Len, from.Snaplen
		atomic.StoreUint32(&to.Status, unix.TP_STATUS_SEND_REQUEST)
	}
	s.committed--
	atomic.StoreUint32(&s.tx.header(s.committed).Status, unix.TP_STATUS_AVAILABLE)
	return bad
}

// Unsent returns how many committed frames the kernel has not taken yet, and will not
// take by the next Wait (FlushAtWait).
func (s *Socket) Unsent() int {
	if s.atWait {
		return 0
	}
	return int(s.committed - s.taken)
}

// Pending returns how many frames are committed and not known to have left the
// interface: those not taken, and those from the oldest that is still in a
// qdisc.
func (s *Socket) Pending() int {
	s.reap()
	return int(s.committed - s.done)
}

func (s *Socket) reap() {
	for s.done != s.committed && atomic.LoadUint32(&s.tx.header(s.done).Status) == unix.TP_STATUS_AVAILABLE {
		s.done++
	}
}
