package ring

import "golang.org/x/sys/unix"

// MTU returns the interface's MTU when the socket was opened.
func (s *Socket) MTU() int { return s.link.mtu }

// Capacity returns how many frames the receive and the send ring hold.
func (s *Socket) Capacity() (rx, tx int) { return s.rx.count, s.tx.count }

// Wait blocks the calling thread until a frame is there, an extra descriptor is
// ready, or CLOCK_MONOTONIC has reached deadline, as Socket.Wait does. Who takes
// captures looks at their taps in turn, and waits for none.
func (t *Tap) Wait(deadline int64, extra []unix.PollFd) (Ready, int64, error) {
	// While a block is ours, poll is always ready: give it back when read.
	if t.left == 0 {
		t.nextBlock()
	}
	if t.left > 0 {
		deadline = 0
	}
	var p poller
	p.fds[0] = unix.PollFd{Fd: int32(t.fd), Events: unix.POLLIN}
	others, now, err := p.wait(deadline, extra)
	if err != nil {
		return 0, now, t.link.fail("wait", err)
	}
	ready := p.ready(others)
	if t.left > 0 {
		ready |= Received
	}
	return ready, now, t.link.pollError(t.fd, p.fds[0].Revents)
}
