//go:build linux

package clock

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Forever is a deadline that never comes.
const Forever int64 = math.MaxInt64

// Monotonic reads the kernel's CLOCK_MONOTONIC in ns, without a system call. All
// processes of a machine read the same clock (time namespaces aside). In a guest
// of the virtual engine it stands still until its reader sleeps: never spin on it.
func Monotonic() int64 {
	if ns, ok := guestPage.read(); ok {
		return ns
	}
	return nanotime()
}

// nanotime is the Go runtime's own reading. The time package offers it only as a
// difference between two times, and a host needs the absolute value to share an
// origin with the controller.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// SleepUntil blocks the calling thread until Monotonic has reached deadline,
// in one clock_nanosleep (kernel/time/posix-timers.c); a signal does not end it
// early. It returns at once for a deadline that has passed, and never for
// Forever.
//
// The thread keeps its Go processor while it sleeps, so that the scheduler has
// no part in waking it: other goroutines need another processor, and the
// runtime interrupts the sleep by a signal when it wants to collect garbage.
func SleepUntil(deadline int64) error {
	ts := unix.NsecToTimespec(max(deadline, 0))
	for {
		switch errno := nanosleep(&ts); errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("clock_nanosleep until %d: %w", deadline, errno)
		}
	}
}

// nanosleep is not inlined: its prologue is where the runtime can stop this
// goroutine after it has interrupted a sleep.
//
//go:noinline
func nanosleep(ts *unix.Timespec) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP,
		unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	return errno
}

// Timeout fills in the time that is left from now until deadline, for a system
// call that takes a relative one; it is nil, without end, for Forever, and never
// negative.
func Timeout(deadline, now int64, left *unix.Timespec) *unix.Timespec {
	if deadline == Forever {
		return nil
	}
	*left = unix.NsecToTimespec(max(deadline-now, 0))
	return left
}

// LockThread ties the calling goroutine to its thread, as
// runtime.LockOSThread does, and sets the thread's timer slack to 1 ns, without
// which the kernel may wake it 50 us late. Threads started later by this one
// inherit the slack.
func LockThread() error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set timer slack to 1 ns: %w", err)
	}
	return nil
}

// ThreadTime returns the processor time, in ns, that the calling thread has used since
// it began; 0 where the kernel does not tell.
func ThreadTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
