//go:build linux

package ring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// Ready is why Wait returned. 0 means that the deadline has come.
type Ready uint8

// Reasons; there may be several.
const (
	Received Ready = 1 << iota // a frame waits in the receive ring
	Sendable                   // after ErrSendBufferFull: Flush can go on
	Extra                      // an extra descriptor is ready: see its Revents
	Unsent                     // what FlushAtWait was for failed: see Flushed
)

// MaxExtra is how many descriptors Wait takes besides the socket's.
const MaxExtra = 8

// Wait blocks the calling thread until a frame is received, a full send buffer
// has room again, one of the extra descriptors is ready, or CLOCK_MONOTONIC has
// reached deadline, in ns (clock.Forever for none); never before that. It
// returns the monotonic time of its return. The Revents of extra show which are
// ready.
//
// With a frame in the ring it returns at once, without a system call and
// without looking at extra: drain the ring first. The same goes for a deadline
// that has passed and no extra. Otherwise it makes one ppoll call, and a signal
// makes it another for the time that remains: inside a virtual clock, time
// moves only in there.
//
// The call is a raw one, so the thread keeps its Go processor and the scheduler
// has no part in waking it. Other goroutines need another processor; the runtime
// interrupts the call by a signal when it wants to collect garbage. The thread
// should be locked, with a timer slack of 1 ns (clock.LockThread).
//
// With frames for FlushAtWait it first sends them, and returns at once if not all were
// taken.
//
// It fails with an *OpError when the interface goes down.
func (s *Socket) Wait(deadline int64, extra []unix.PollFd) (Ready, int64, error) {
	if atomic.LoadUint32(&s.rx.header(s.received).Status)&unix.TP_STATUS_USER != 0 {
		return Received | s.flushBefore(), clock.Monotonic(), nil
	}
	if len(extra) == 0 {
		if ready := s.flushBefore(); ready != 0 {
			return ready, clock.Monotonic(), nil
		}
	}
	own := &s.poll.fds[0]
	own.Events = unix.POLLIN
	if s.blocked {
		// Only in this case does POLLOUT sleep: it is about the send buffer, not
		// about the ring (packet_poll).
		own.Events |= unix.POLLOUT
	}
	if s.atWait {
		own.Events |= unix.POLLPRI
	}
	others, now, err := s.poll.wait(deadline, extra)
	if err != nil {
		return 0, now, s.link.fail("wait", err)
	}
	unsent := s.flushedAtWait(own.Revents)
	return s.poll.ready(others) | unsent, now, s.link.pollError(s.fd, own.Revents)
}

// Rest is Wait that frames do not end: for a caller that knows that none can matter
// before deadline. The kernel then has nobody to wake up for them, which costs it more
// than the frame where waking a processor leaves a virtual machine.
func (s *Socket) Rest(deadline int64, extra []unix.PollFd) (Ready, int64, error) {
	if ready := s.flushBefore(); ready != 0 {
		return ready, clock.Monotonic(), nil
	}
	own := &s.poll.fds[0]
	own.Fd, own.Events = -1, unix.POLLOUT // poll ignores it
	if s.blocked {
		own.Fd = int32(s.fd)
	}
	others, now, err := s.poll.wait(deadline, extra)
	own.Fd = int32(s.fd)
	if err != nil {
		return 0, now, s.link.fail("wait", err)
	}
	return s.poll.ready(others), now, s.link.pollError(s.fd, own.Revents)
}

// pollError returns what a poll's error bits mean, so that nobody goes on polling
// a socket that is always "ready".
func (l link) pollError(fd int, revents int16) error {
	if revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) == 0 {
		return nil
	}
	if err := l.pendingError(fd, "wait"); err != nil {
		return err
	}
	return l.fail("wait", fmt.Errorf("poll events %#x: %w", revents, unix.EIO))
}

// poller waits for a socket, the first of fds, and extra descriptors.
type poller struct {
	fds         [1 + MaxExtra]unix.PollFd
	interrupted uint64 // calls ended by a signal
}

// ready returns what the last wait found.
func (p *poller) ready(others bool) (ready Ready) {
	if p.fds[0].Revents&unix.POLLIN != 0 {
		ready |= Received
	}
	if p.fds[0].Revents&unix.POLLOUT != 0 {
		ready |= Sendable
	}
	if others {
		ready |= Extra
	}
	return ready
}

// wait blocks as Socket.Wait describes and reports whether an extra descriptor
// is ready.
func (p *poller) wait(deadline int64, extra []unix.PollFd) (others bool, now int64, err error) {
	if len(extra) > MaxExtra {
		return false, 0, fmt.Errorf("%d extra descriptors, at most %d: %w", len(extra), MaxExtra, unix.EINVAL)
	}
	p.fds[0].Revents = 0
	now = clock.Monotonic()
	if now >= deadline && len(extra) == 0 {
		return false, now, nil
	}
	copy(p.fds[1:], extra)
	ready, now, errno := p.block(1+len(extra), now, deadline)
	if errno != 0 {
		return false, now, errno
	}
	if p.fds[0].Revents != 0 {
		ready--
	}
	copy(extra, p.fds[1:])
	return ready > 0, now, nil
}

// block polls the first n descriptors until one is ready or deadline has come.
func (p *poller) block(n int, now, deadline int64) (int, int64, unix.Errno) {
	for {
		var left unix.Timespec
		ready, errno := ppoll(&p.fds[0], n, clock.Timeout(deadline, now, &left))
		now = clock.Monotonic()
		switch {
		case errno == unix.EINTR:
			// The results are void; poll once more even past the deadline.
			p.interrupted++
		case errno != 0 || ready > 0 || now >= deadline:
			return ready, now, errno
		}
	}
}

// ppoll is not inlined: its prologue is where the runtime can stop this
// goroutine after it has interrupted a call.
//
//go:noinline
func ppoll(fds *unix.PollFd, n int, timeout *unix.Timespec) (int, unix.Errno) {
	ready, _, errno := unix.RawSyscall6(unix.SYS_PPOLL,
		uintptr(unsafe.Pointer(fds)), uintptr(n), uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	return int(ready), errno
}
