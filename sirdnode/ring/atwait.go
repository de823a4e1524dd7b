//go:build linux

package ring

import "golang.org/x/sys/unix"

// sendAtPoll is an option of packet sockets that the kernel of the virtual engine's guests
// has, and no other (PACKET_SEND_AT_POLL of emu/virtual/kernel/kernel.patch): who polls for
// POLLPRI has what is committed sent, and then waits. There a system call costs more than
// what is done in it.
const sendAtPoll = 1000

// flushed is what became of frames that a Wait has sent.
type flushed struct {
	pending int // as Pending, right after that
	err     error
}

// FlushAtWait has the next Wait hand all committed frames to the kernel before it waits, in
// the same system call, and reports true; Flushed then tells the outcome. It reports false,
// and does nothing, where the kernel cannot do that, or nothing is committed.
func (s *Socket) FlushAtWait() bool {
	s.atWait = s.sendsAtWait && s.committed != s.taken
	return s.atWait
}

// Flushed returns what Flush would have returned in place of FlushAtWait, and what Pending
// would have right after it. It is for after the Wait.
func (s *Socket) Flushed() (pending int, err error) { return s.flushed.pending, s.flushed.err }

// flushBefore does what FlushAtWait has promised by a call of its own, before a Wait that
// makes none, and reports that not all were taken.
func (s *Socket) flushBefore() Ready {
	if !s.atWait {
		return 0
	}
	err := s.Flush()
	return s.wasFlushed(s.Pending(), err)
}

// flushedAtWait sees what the kernel did with the frames that it was to send.
func (s *Socket) flushedAtWait(revents int16) Ready {
	if !s.atWait {
		return 0
	}
	s.atWait = false
	first := s.tx.header(s.taken) // in it, the kernel has said how that went
	errno, pending := unix.Errno(first.Sec), int(first.Nsec)
	err := s.sent(errno)
	if revents&unix.POLLPRI != 0 {
		pending = s.Pending() // of this moment: Wait did not wait
	}
	return s.wasFlushed(pending, err)
}

func (s *Socket) wasFlushed(pending int, err error) Ready {
	s.flushed = flushed{pending, err}
	if err != nil {
		return Unsent
	}
	return 0
}
