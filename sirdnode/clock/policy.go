//go:build linux

package clock

import (
	"errors"
	"fmt"
	"os"
	"strconv"

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
func SetPolicy(p Policy) error { return setPolicy(p, 0) }

// SetProcessPolicy is SetPolicy for a thread whose process has no other work than that of
// this thread, such as a host's.
//
// Where it is RealTime all threads of the process have it. Go's runtime waits for the
// collector in a loop of sched_yield while another thread looks at a goroutine's stack
// (runtime.casgstatus); in real time that gives way to nothing ordinary. If it is the wait
// that has taken the processor from that thread, it lasts until the kernel moves the thread
// elsewhere: hundreds of ms were measured.
func SetProcessPolicy(p Policy) error {
	if p != RealTime {
		return SetPolicy(p)
	}
	// A thread that begins meanwhile may have been started by one that is ordinary yet.
	set := map[int]bool{}
	for pass := range mostPasses {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("scheduling of this process's threads: %w", err)
		}
		known := len(set)
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || set[tid] {
				continue
			}
			if err := setPolicy(p, tid); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
				return err
			}
			set[tid] = true
		}
		if pass > 0 && len(set) == known {
			break
		}
	}
	return nil
}

// mostPasses bounds the looks for threads.
const mostPasses = 100

func setPolicy(p Policy, tid int) error {
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
	if err := unix.SchedSetAttr(tid, &attr, 0); err != nil {
		return fmt.Errorf("scheduling of a thread (%s): %w", p, err)
	}
	return nil
}
