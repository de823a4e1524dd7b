//go:build linux

package ring

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

func TestWaitIsNeverEarly(t *testing.T) {
	p := newPair(t, 1500)
	b := p.open(t, p.b, Config{})
	for _, wait := range []int64{-1, 0, 1, 999, 1000, 50_000, 999_999, 1_000_001, 30_000_000} {
		deadline := clock.Monotonic() + wait
		ready, now, err := b.Wait(deadline, nil)
		if after := clock.Monotonic(); ready != 0 || err != nil || now < deadline || now > after {
			t.Errorf("wait of %d ns: ready %v, %v, back %d ns early", wait, ready, err, deadline-now)
		}
	}
}

// Signals interrupt the system call all the time; the wait goes on, and ends
// when it should.
func TestWaitInterruptedIsNotEarly(t *testing.T) {
	p := newPair(t, 1500)
	b := p.open(t, p.b, Config{})
	thread, done := make(chan int), make(chan int64)
	var deadline int64
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		for b.poll.interrupted < 100 {
			deadline = clock.Monotonic() + int64(20*time.Millisecond)
			ready, now, err := b.Wait(deadline, nil)
			if ready != 0 || err != nil || now < deadline {
				t.Errorf("ready %v, %v, back %d ns early", ready, err, deadline-now)
			}
		}
		close(done)
	}()
	for id := <-thread; ; {
		select {
		case <-done:
			return
		default:
			if err := unix.Tgkill(unix.Getpid(), id, unix.SIGURG); err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// asleep waits until a thread is blocked in the kernel.
func asleep(t *testing.T, thread int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", thread))
		if err != nil {
			t.Fatal(err)
		}
		// "pid (name) state ...": the name may have anything in it.
		if state := stat[bytes.LastIndexByte(stat, ')')+2]; state == 'S' {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the thread never slept")
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// The thread keeps its Go processor while it waits, yet must not delay the
// garbage collector.
func TestWaitLetsTheGarbageCollectorIn(t *testing.T) {
	p := newPair(t, 1500)
	b := p.open(t, p.b, Config{})
	r, w := pipe(t)
	thread, result := make(chan int, 1), make(chan Ready)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		ready, _, _ := b.Wait(clock.Monotonic()+int64(patience),
			[]unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}})
		result <- ready
	}()
	asleep(t, <-thread)
	for range 10 {
		runtime.GC()
	}
	if _, err := w.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if ready := <-result; ready != Extra {
		t.Errorf("ready %v: the collections lasted as long as the wait", ready)
	}
}

func TestWaitSeesFramesAndExtraDescriptors(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	r1, _ := pipe(t)
	r2, w2 := pipe(t)
	extra := []unix.PollFd{{Fd: int32(r1.Fd()), Events: unix.POLLIN}, {Fd: int32(r2.Fd()), Events: unix.POLLIN}}
	wait := func(deadline int64) Ready {
		t.Helper()
		ready, _, err := b.Wait(deadline, extra)
		if err != nil {
			t.Fatal(err)
		}
		return ready
	}
	if got := wait(0); got != 0 {
		t.Errorf("nothing is ready, but %v", got)
	}
	if _, err := w2.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	for _, deadline := range []int64{clock.Forever, 0} { // looked at even past the deadline
		if got := wait(deadline); got != Extra || extra[0].Revents != 0 || extra[1].Revents&unix.POLLIN == 0 {
			t.Errorf("%v, %+v", got, extra)
		}
	}
	commit(a, 0, lengthOf(0, 1514))
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, _, err := b.Wait(0, nil); got != Received || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	expect(t, b, 0, 1, 1514)
	if got := wait(0); got != Extra {
		t.Errorf("after the frame: %v", got)
	}
	if _, _, err := b.Wait(0, make([]unix.PollFd, MaxExtra+1)); err == nil {
		t.Error("too many descriptors were taken")
	}
}

// A waiting thread is woken by a frame.
func TestWaitEndsWhenAFrameArrives(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	r, w := make(chan Ready), make(chan bool)
	go func() {
		runtime.LockOSThread()
		for range w {
			ready, _, _ := b.Wait(clock.Monotonic()+int64(patience), nil)
			b.Receive()
			b.Release()
			r <- ready
		}
	}()
	for i := range uint64(200) {
		w <- true
		if i%2 == 0 {
			time.Sleep(200 * time.Microsecond) // let it fall asleep
		}
		commit(a, i, 64)
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		if ready := <-r; ready != Received {
			t.Fatalf("frame %d: %v", i, ready)
		}
	}
	close(w)
}

// A frame does not end a rest, and is there after it; a descriptor does.
func TestRestIsNotForFrames(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	r, w := pipe(t)
	extra := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
	commit(a, 0, lengthOf(0, 1514))
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	deadline := clock.Monotonic() + 20e6
	if ready, now, err := b.Rest(deadline, extra); ready != 0 || now < deadline || err != nil {
		t.Errorf("with a frame: %v, %d ns early, %v", ready, deadline-now, err)
	}
	expect(t, b, 0, 1, 1514)
	if _, err := w.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if ready, _, err := b.Rest(clock.Monotonic()+int64(patience), extra); ready != Extra || err != nil {
		t.Errorf("with a descriptor: %v, %v", ready, err)
	}
	if ready, _, err := b.Wait(clock.Monotonic()+1e6, nil); ready != 0 || err != nil {
		t.Errorf("a wait after it: %v, %v", ready, err)
	}
	commit(a, 1, lengthOf(1, 1514))
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	if ready, _, err := b.Wait(clock.Monotonic()+int64(patience), nil); ready != Received || err != nil {
		t.Errorf("a wait for a frame after it: %v, %v", ready, err)
	}
}
