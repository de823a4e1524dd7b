//go:build linux

package clock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A Policy is how the kernel schedules a thread among others.
type Policy string

// The policies.
const (
	Ordinary Policy = ""
	// ShortSlice has the thread preempt others that wake up with longer slices (EEVDF,
	// Linux 6.12). Anybody may.
	ShortSlice Policy = "short slices"
	// RealTime has it go before all ordinary threads (SCHED_FIFO). It takes root, or a
	// limit RLIMIT_RTPRIO. The kernel leaves others 5 % of the time.
	RealTime Policy = "real-time"
	// Idle has it run when nothing else wants to (SCHED_IDLE).
	Idle Policy = "idle"
)

// slice is as short as the kernel takes them, in ns.
const slice = 100_000

// SetPolicy sets the policy of the calling thread, which has to be an ordinary one.
// Threads that it starts inherit it.
func SetPolicy(p Policy) error {
	if p == Ordinary {
		return nil
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr}
	switch p {
	case ShortSlice:
		attr.Runtime = slice
	case RealTime:
		attr.Policy, attr.Priority = unix.SCHED_FIFO, 1
	case Idle:
		attr.Policy = unix.SCHED_IDLE
	}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("scheduling of a thread (%s): %w", p, err)
	}
	return nil
}
