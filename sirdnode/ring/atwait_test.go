//go:build linux

package ring

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
)

// Where the kernel cannot send at a wait, FlushAtWait says so and does nothing, and so it does where
// nothing is to be sent.
func TestFlushAtWaitNeedsAGuestsKernel(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	if a.FlushAtWait() {
		t.Error("there is nothing to send")
	}
	if a.sendsAtWait {
		t.Skip("this kernel can do it")
	}
	commit(a, 0, lengthOf(0, 1514))
	if a.FlushAtWait() || a.Unsent() != 1 {
		t.Fatal("this kernel cannot do it")
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	expect(t, b, 0, 1, 1514)
}

// Frames are sent before the wait, whatever ends it, and Flushed says what Flush would have.
func TestFlushAtWaitSendsFirst(t *testing.T) {
	nstest.RequireExactTime(t) // which is in a guest
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	r, _ := pipe(t)
	extra := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
	next := uint64(0)
	for _, c := range []struct {
		name     string
		extra    []unix.PollFd
		deadline int64
		receives bool
		ready    Ready
	}{
		{"by the call that waits", extra, 1000, false, 0},
		{"at a deadline that has passed", extra, -1000, false, 0},
		{"without another descriptor", nil, 1000, false, 0},
		{"with a frame that waits", extra, 1000, true, Received},
	} {
		if c.receives {
			commit(b, 0, lengthOf(0, 1514))
			if err := b.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		first := next
		for range 3 {
			commit(a, next, lengthOf(next, 1514))
			next++
		}
		if !a.FlushAtWait() || a.Unsent() != 0 {
			t.Fatalf("%s: %d unsent", c.name, a.Unsent())
		}
		expectNothing(t, b)
		began := clock.Monotonic()
		ready, now, err := a.Wait(began+c.deadline, c.extra)
		if ready != c.ready || err != nil || !c.receives && now < began+c.deadline {
			t.Fatalf("%s: %v, %v after %d ns", c.name, ready, err, now-began)
		}
		if pending, err := a.Flushed(); pending != 0 || err != nil {
			t.Errorf("%s: %d pending, %v", c.name, pending, err)
		}
		expect(t, b, first, next, 1514)
		if c.receives {
			expect(t, a, 0, 1, 1514)
		}
	}
}

// Behind a shaper there are the same back-pressures as Flush's, at once, and each frame
// arrives once and in order.
func TestFlushAtWaitMeetsBackPressure(t *testing.T) {
	nstest.RequireExactTime(t)
	for _, c := range []struct {
		name          string
		limit         uint32
		config        Config
		buffer, queue bool
	}{
		{"send buffer", 10e6, Config{SendBuffer: 20000}, true, false},
		{"queue", 8000, Config{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const frames, longest = 500, 1014
			p := newPair(t, 1500)
			p.shape(t, c.limit)
			a, b := p.open(t, p.a, c.config), p.open(t, p.b, Config{RxFrames: frames})
			r, _ := pipe(t)
			extra := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
			var buffer, queue bool
			for sent := uint64(0); sent < frames || a.Unsent() > 0; {
				for sent < frames && commit(a, sent, lengthOf(sent, longest)) {
					sent++
				}
				if !a.FlushAtWait() { // the ring is full of frames that the queue has
					clock.SleepUntil(clock.Monotonic() + 100_000)
					continue
				}
				began := clock.Monotonic()
				ready, now, err := a.Wait(began+1e6, extra)
				if err != nil {
					t.Fatal(err)
				}
				pending, err := a.Flushed()
				if (err != nil) != (ready&Unsent != 0) || err != nil && now-began > 100 || pending > a.tx.count {
					t.Fatalf("%v, %v, %d pending, after %d ns", ready, err, pending, now-began)
				}
				buffer = buffer || errors.Is(err, ErrSendBufferFull)
				queue = queue || errors.Is(err, ErrQueueFull)
				if err != nil {
					clock.SleepUntil(clock.Monotonic() + 100_000)
				}
			}
			if buffer != c.buffer || queue != c.queue {
				t.Errorf("send buffer full %v, queue full %v", buffer, queue)
			}
			expect(t, b, 0, frames, longest)
			expectNothing(t, b)
		})
	}
}
