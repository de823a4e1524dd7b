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
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &all); err != nil {
		t.Fatal(err)
	}
	list := processors()
	if len(list) != all.Count() {
		t.Fatalf("of %d processors it has %v", all.Count(), list)
	}
	if len(list) < 2 {
		t.Skip("there is one processor only")
	}
	last := list[len(list)-1]
	var one unix.CPUSet
	one.Set(last)
	if err := unix.SchedSetaffinity(os.Getpid(), &one); err != nil {
		t.Fatal(err)
	}
	a := Means{Awake: true}.keepAwake()
	a.let()
	if err := unix.SchedSetaffinity(os.Getpid(), &all); err != nil {
		t.Fatal(err)
	}
	if want := []int{last}; !slices.Equal(a.processors, want) {
		t.Errorf("allowed %v, it keeps %v awake", want, a.processors)
	}
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
