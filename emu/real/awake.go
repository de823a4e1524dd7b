//go:build linux

package real

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// awake keeps processors from going to sleep: on each a thread of the idle class spins,
// which yields to whatever else wants to run. A virtual machine's processor that sleeps
// takes tens of microseconds to come back.
type awake struct {
	stop       atomic.Bool
	ended      sync.WaitGroup
	processors []int // of this process, which may not have all of the machine's
}

// keepAwake starts it if m says so. The caller ends it with let.
func (m Means) keepAwake() *awake {
	if !m.Awake {
		return nil
	}
	a := &awake{processors: processors()}
	// Each thread keeps its Go processor.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(a.processors))
	for _, cpu := range a.processors {
		a.ended.Go(func() { a.spin(cpu) })
	}
	return a
}

// processors are those that this process may run on (taskset, cpusets), by their numbers.
func processors() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &set) != nil { // more than 1024 of them
		return nil
	}
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// spin keeps one processor awake. Where the thread may not be of the idle class it does
// nothing. It ends with its thread, whose policy is nobody else's then.
func (a *awake) spin(cpu int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if clock.SetPolicy(clock.Idle) != nil || unix.SchedSetaffinity(0, &set) != nil {
		return
	}
	for !a.stop.Load() {
	}
}

// let lets processors sleep again.
func (a *awake) let() {
	if a == nil {
		return
	}
	a.stop.Store(true)
	a.ended.Wait()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - len(a.processors))
}
