//go:build linux

package real

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// awake keeps processors from going to sleep: on each a thread of the idle class is busy,
// which yields to whatever else wants to run. A virtual machine's processor that sleeps
// takes tens of microseconds to come back.
type awake struct {
	stop  atomic.Bool
	ended sync.WaitGroup
	zeros *os.File

	processors []int // of this process, which may not have all of the machine's
}

// busyFile is what the threads read from. They are busy inside of the kernel, since Go's
// collector waits for a thread that is busy outside until it gets a processor, and on a
// busy machine one of the idle class gets none. Reading zeros gives way at every page.
const busyFile = "/dev/zero"

// keepAwake starts it if m says so. The caller ends it with let.
func (m Means) keepAwake() *awake {
	if !m.Awake {
		return nil
	}
	zeros, err := os.Open(busyFile)
	if err != nil { // MeansFor has tried
		return nil
	}
	a := &awake{zeros: zeros, processors: processors()}
	// Between two calls each thread has a Go processor, of which it must not deprive others.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(a.processors))
	for _, cpu := range a.processors {
		a.ended.Go(func() { a.stay(cpu) })
	}
	return a
}

// processors are those that this process may run on (taskset, cpusets), by their numbers:
// those of the calling thread. The process's first thread does not end with its goroutine,
// so that it may be one that was to stay on one processor, for as long as the process lives.
func processors() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil { // more than 1024 of them
		return nil
	}
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// stay keeps one processor awake. Where the thread may not be of the idle class it does
// nothing. It ends with its thread, whose policy is nobody else's then.
func (a *awake) stay(cpu int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if clock.SetPolicy(clock.Idle) != nil || unix.SchedSetaffinity(0, &set) != nil {
		return
	}
	// The same page again and again stays in the processor's cache: some 100 us a call.
	page := make([]byte, os.Getpagesize())
	parts := make([]unix.Iovec, mostParts)
	for i := range parts {
		parts[i].Base = &page[0]
		parts[i].SetLen(len(page))
	}
	zeros := a.zeros.Fd()
	for !a.stop.Load() {
		// Not unix.Readv, which allocates.
		_, _, errno := unix.Syscall(unix.SYS_READV, zeros, uintptr(unsafe.Pointer(&parts[0])), mostParts)
		if errno != 0 && errno != unix.EINTR {
			return
		}
	}
}

// mostParts is how many parts one call reads into at most (UIO_MAXIOV).
const mostParts = 1024

// let lets processors sleep again.
func (a *awake) let() {
	if a == nil {
		return
	}
	a.stop.Store(true)
	a.ended.Wait()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - len(a.processors))
	a.zeros.Close()
}
