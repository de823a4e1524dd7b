//go:build linux

package real

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Of the processors those are kept awake that the run may use, whatever their numbers.
func TestProcessorsOfItsOwnAreKeptAwake(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := affinity(t, 0)
	list := processors()
	if len(list) != all.Count() {
		t.Fatalf("of %d processors it has %v", all.Count(), list)
	}
	if len(list) < 2 {
		t.Skip("there is one processor only")
	}
	last := list[len(list)-1]
	setAffinity(t, 0, only(last))
	a := Means{Awake: true}.keepAwake()
	a.let()
	setAffinity(t, 0, all)
	if want := []int{last}; !slices.Equal(a.processors, want) {
		t.Errorf("allowed %v, it keeps %v awake", want, a.processors)
	}
}

// The thread that a process began with may have been one of those that keep a processor
// awake, and still be there: it says nothing of the process.
func TestTheFirstThreadIsNotTheProcess(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := os.Getpid()
	all := affinity(t, first)
	setAffinity(t, first, only(processors()[0]))
	defer setAffinity(t, first, all)
	// Seen from another thread than the first.
	var list []int
	if unix.Gettid() != first {
		list = processors()
	} else {
		var seen sync.WaitGroup
		seen.Go(func() { list = processors() })
		seen.Wait()
	}
	if len(list) != all.Count() {
		t.Errorf("of %d processors it has %v", all.Count(), list)
	}
}

// affinity is the processors that a thread may run on; 0 is the calling thread.
func affinity(t *testing.T, tid int) (set unix.CPUSet) {
	t.Helper()
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

func setAffinity(t *testing.T, tid int, set unix.CPUSet) {
	t.Helper()
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		t.Fatal(err)
	}
}

func only(processor int) (set unix.CPUSet) {
	set.Set(processor)
	return set
}

// The collector does not wait for the threads that keep processors awake, which get no
// processor while others are busy.
func TestTheCollectorNeedNotWaitForThoseAwake(t *testing.T) {
	var stop atomic.Bool
	var ended sync.WaitGroup
	for range runtime.NumCPU() { // ordinary threads, busy in the kernel
		ended.Go(func() { busy(&stop) })
	}
	a := Means{Awake: true}.keepAwake()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			runtime.GC()
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("20 collections have not ended in 10 s")
	}
	stop.Store(true)
	ended.Wait()
	<-done
	a.let()
}

// busy keeps a processor busy without a Go processor.
func busy(stop *atomic.Bool) {
	zeros, err := os.Open(busyFile)
	if err != nil {
		return
	}
	defer zeros.Close()
	page := make([]byte, 64<<10)
	for !stop.Load() {
		if _, err := zeros.Read(page); err != nil {
			return
		}
	}
}
