//go:build linux

package sockets

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// A watcher handles what its descriptor is ready for.
type watcher interface {
	ready(now Time, events uint32)
}

// A poller waits for descriptors by epoll: a host may have thousands.
type poller struct {
	fd       int
	control  int       // a descriptor of the caller's
	watchers []watcher // by descriptor, nil for those that are not watched
	events   [128]unix.EpollEvent
	pending  []unix.EpollEvent // of the last wait, without control's
}

func (p *poller) open(control int) (err error) {
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	p.control = control
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(control)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, control, &event))
}

// add watches a descriptor, until it is removed and closed.
func (p *poller) add(fd int, events uint32, w watcher) error {
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	for len(p.watchers) <= fd {
		p.watchers = append(p.watchers, nil)
	}
	p.watchers[fd] = w
	return nil
}

// change watches for other events.
func (p *poller) change(fd int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, fd, &event))
}

// remove ends the watch of a descriptor, which the caller closes.
func (p *poller) remove(fd int) { p.watchers[fd] = nil }

// wait blocks until a descriptor is ready or CLOCK_MONOTONIC has reached deadline
// (clock.Forever for none), and never returns before that. It makes one system
// call, and another for the time that remains if a signal interrupts it: with a
// virtual clock, time passes only in there. The call is a raw one, and the rules of
// ring.Socket.Wait for the thread apply here too.
func (p *poller) wait(deadline int64) (control bool, now int64, err error) {
	p.pending = p.pending[:0]
	for now = clock.Monotonic(); ; {
		var left unix.Timespec
		n, errno := epollWait(p.fd, p.events[:], clock.Timeout(deadline, now, &left))
		now = clock.Monotonic()
		switch {
		case errno == unix.EINTR || errno == 0 && n == 0 && now < deadline:
			continue
		case errno == unix.ENOSYS:
			return false, now, fmt.Errorf("epoll_pwait2: %w: it takes Linux 5.11", errno)
		case errno != 0:
			return false, now, os.NewSyscallError("epoll_pwait2", errno)
		}
		for _, e := range p.events[:n] {
			if int(e.Fd) == p.control {
				control = true
			} else {
				p.pending = append(p.pending, e)
			}
		}
		return control, now, nil
	}
}

// serve lets the watchers handle what the last wait has found.
func (p *poller) serve(now Time) {
	for _, e := range p.pending {
		if w := p.watchers[e.Fd]; w != nil {
			w.ready(now, e.Events)
		}
	}
	p.pending = p.pending[:0]
}

func (p *poller) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
	p.fd = -1
}

// epollWait is not inlined: its prologue is where the runtime can stop this
// goroutine after it has interrupted a call.
//
//go:noinline
func epollWait(fd int, events []unix.EpollEvent, timeout *unix.Timespec) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(fd),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(timeout)), 0, 0)
	return int(n), errno
}
