//go:build linux

package clock_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// The collector works on threads of its own, which a thread in real time may wait for.
func TestAllThreadsOfAProcessAreInRealTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer each(t, func(tid int) error {
		return ended(unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0))
	})
	if err := clock.SetProcessPolicy(clock.RealTime); errors.Is(err, unix.EPERM) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	threads := 0
	check := func(tid int) error {
		attr, err := unix.SchedGetAttr(tid, 0)
		if err == nil && attr.Policy != unix.SCHED_FIFO {
			t.Errorf("thread %d has policy %d", tid, attr.Policy)
		}
		threads++
		return ended(err)
	}
	each(t, check)
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread() // whose thread the next goroutine cannot have
		close(started)
	}()
	<-started
	runtime.GC()
	before := threads
	if each(t, check); threads == before {
		t.Error("no threads")
	}
}

// each calls do for each thread of this process.
func each(t *testing.T, do func(tid int) error) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		tid, parse := strconv.Atoi(task.Name())
		err = errors.Join(err, parse, do(tid))
	}
	if err != nil {
		t.Error(err)
	}
}

// ended forgets that a thread has ended.
func ended(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
