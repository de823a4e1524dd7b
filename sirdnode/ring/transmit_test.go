//go:build linux

package ring

import (
	"errors"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/wire"
)

func TestReserveUntilTheRingIsFull(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{TxFrames: 64}), p.open(t, p.b, Config{})
	_, room := a.Capacity()
	next := uint64(0)
	for round := range 10 {
		first := next
		for commit(a, next, lengthOf(next, 1514)) {
			next++
		}
		if got := int(next - first); got != room || a.Unsent() != room || a.Pending() != room {
			t.Fatalf("round %d: %d frames in a ring of %d, %d unsent, %d pending", round, got, room, a.Unsent(),
				a.Pending())
		}
		expectNothing(t, b)
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		expect(t, b, first, next, 1514)
		if a.Unsent() != 0 || a.Pending() != 0 {
			t.Fatalf("round %d: %d unsent, %d pending", round, a.Unsent(), a.Pending())
		}
	}
	if err := a.Flush(); err != nil {
		t.Errorf("flush of nothing: %v", err)
	}
}

// shape lets 50 Mbit/s through a's end, one frame at a time, and queues limit
// bytes.
func (p pair) shape(t *testing.T, limit uint32) {
	const rate, burst = 50e6 / 8, 2000
	p.change(t, p.a, func(h *netlink.Handle, l netlink.Link) error {
		return h.QdiscAdd(&netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0),
				Parent: netlink.HANDLE_ROOT},
			Rate: rate, Limit: limit, Buffer: uint32(burst * 1e9 / rate / 64),
		})
	})
}

// stayOnOneProcessor keeps the test's thread on the first that it may use. Each processor has a backlog of
// its own behind a veth: a sender that moves leaves the shaper's timer on one processor and
// sends from another, and where the first is late, the frames of the second overtake.
func stayOnOneProcessor(t *testing.T) {
	t.Helper()
	var before, first unix.CPUSet
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; first.Count() == 0; cpu++ {
		if before.IsSet(cpu) {
			first.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &first); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.SchedSetaffinity(0, &before); err != nil {
			t.Error(err)
		}
	})
}

// pressed sends n frames of 1014 bytes through the shaper and counts each
// kind of back-pressure. Every frame must arrive once, intact and in order,
// although their memory is reused as soon as the kernel is done with it.
func pressed(t *testing.T, p pair, c Config, n uint64) (buffer, queue, ring int) {
	t.Helper()
	stayOnOneProcessor(t)
	const longest = 1014
	a, b := p.open(t, p.a, c), p.open(t, p.b, Config{RxFrames: int(n)})
	for sent := uint64(0); sent < n || a.Unsent() > 0; {
		for sent < n && commit(a, sent, lengthOf(sent, longest)) {
			sent++
		}
		full := a.Reserve() == nil
		err := a.Flush()
		switch {
		case errors.Is(err, ErrSendBufferFull):
			buffer++
			if !errors.Is(err, ErrBackPressure) {
				t.Fatalf("%v is no back-pressure", err)
			}
			ready, _, err := a.Wait(clock.Monotonic()+int64(patience), nil)
			if err != nil || ready != Sendable {
				t.Fatalf("waiting for the send buffer: %v, %v", ready, err)
			}
		case errors.Is(err, ErrQueueFull):
			queue++
			if !errors.Is(err, ErrBackPressure) {
				t.Fatalf("%v is no back-pressure", err)
			}
			clock.SleepUntil(clock.Monotonic() + 100_000)
		case err != nil:
			t.Fatal(err)
		case full:
			ring++
			clock.SleepUntil(clock.Monotonic() + 100_000)
		}
	}
	expect(t, b, 0, n, longest)
	for deadline := clock.Monotonic() + int64(patience); a.Pending() > 0; {
		if clock.Monotonic() > deadline {
			t.Fatalf("%d frames pending after all arrived", a.Pending())
		}
		clock.SleepUntil(clock.Monotonic() + 100_000)
	}
	expectNothing(t, b)
	return buffer, queue, ring
}

func TestSendBufferFullIsBackPressure(t *testing.T) {
	p := newPair(t, 1500)
	p.shape(t, 10e6)
	buffer, queue, _ := pressed(t, p, Config{SendBuffer: 20000}, 2000)
	if buffer == 0 || queue != 0 {
		t.Errorf("send buffer full %d times, queue %d times", buffer, queue)
	}
}

func TestQueueFullIsBackPressure(t *testing.T) {
	p := newPair(t, 1500)
	p.shape(t, 5000)
	if buffer, queue, _ := pressed(t, p, Config{}, 2000); queue == 0 {
		t.Errorf("queue full 0 times, send buffer %d times", buffer)
	}
}

func TestRingFullIsBackPressure(t *testing.T) {
	p := newPair(t, 1500)
	p.shape(t, 10e6)
	if _, queue, ring := pressed(t, p, Config{TxFrames: 32, SendBuffer: 10e6}, 2000); ring == 0 || queue != 0 {
		t.Errorf("ring full %d times, queue %d times", ring, queue)
	}
}

// Frames shorter than an Ethernet header are refused, wherever in the batch
// they are; all others arrive.
func TestRefusedFramesDoNotHarmOthers(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{TxFrames: 32}), p.open(t, p.b, Config{})
	next, refused := uint64(0), uint64(0)
	for _, batch := range []string{"x", "xg", "gx", "gxg", "ggxxgxg", "xxxx", "gggg",
		"xgxgxgxgxgxgxgxgxgxgxgxgxgxgxgxg"} {
		first, before := next, refused
		for _, kind := range batch {
			if kind == 'g' {
				if !commit(a, next, lengthOf(next, 1514)) {
					t.Fatal("ring full")
				}
				next++
				continue
			}
			a.Reserve()
			a.Commit(int(refused % wire.EthernetLen))
			refused++
		}
		err := a.Flush()
		var format *FormatError
		if errors.As(err, &format) != (refused > before) {
			t.Fatalf("%s: %v", batch, err)
		}
		if format != nil && (format.Length != int(before%wire.EthernetLen) || !errors.Is(err, unix.EINVAL)) {
			t.Errorf("%s: %v, want the first: %d bytes", batch, err, before%wire.EthernetLen)
		}
		expect(t, b, first, next, 1514)
		expectNothing(t, b)
		if a.Unsent() != 0 || a.Pending() != 0 {
			t.Fatalf("%s: %d unsent, %d pending", batch, a.Unsent(), a.Pending())
		}
	}
	if stats, err := a.Stats(); err != nil || stats.WrongFormat != refused {
		t.Errorf("%+v, want %d refused; %v", stats, refused, err)
	}
}

// The MTU shrinks after the socket was opened.
func TestFramesLongerThanTheMTUAreRefused(t *testing.T) {
	p := newPair(t, 9000)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	p.setMTU(t, 1500)
	for i, length := range []int{lengthOf(0, 1514), 9014, 1515, lengthOf(1, 1514)} {
		write(a.Reserve()[:length], map[int]uint64{0: 0, 3: 1}[i])
		a.Commit(length)
	}
	err := a.Flush()
	var format *FormatError
	if !errors.As(err, &format) || format.Length != 9014 || !errors.Is(err, unix.EMSGSIZE) {
		t.Errorf("%v", err)
	}
	if a.stats.WrongFormat != 2 {
		t.Errorf("%d refused, want 2", a.stats.WrongFormat)
	}
	expect(t, b, 0, 2, 1514)
}

func TestCommitPanicsOnTheCallersErrors(t *testing.T) {
	p := newPair(t, 1500)
	a := p.open(t, p.a, Config{})
	if len(a.Reserve()) != 1514 {
		t.Fatalf("room for %d bytes", len(a.Reserve()))
	}
	panics := func(n int) (yes bool) {
		defer func() { yes = recover() != nil }()
		a.Commit(n)
		return false
	}
	if !panics(-1) || !panics(1515) {
		t.Error("an impossible length was taken")
	}
	for commit(a, 0, minTest) {
	}
	if !panics(minTest) {
		t.Error("a frame was committed to a full ring")
	}
}

func TestSendOnAnInterfaceThatWentDown(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	p.change(t, p.a, func(h *netlink.Handle, l netlink.Link) error { return h.LinkSetDown(l) })
	commit(a, 0, lengthOf(0, 1514))
	var op *OpError
	if err := a.Flush(); !errors.As(err, &op) || !errors.Is(err, unix.ENETDOWN) || a.Unsent() != 1 {
		t.Fatalf("%v, %d unsent", err, a.Unsent())
	}
	if _, _, err := a.Wait(clock.Forever, nil); !errors.As(err, &op) || !errors.Is(err, unix.ENETDOWN) {
		t.Errorf("wait: %v", err)
	}
	// The frame waits for the interface.
	p.change(t, p.a, func(h *netlink.Handle, l netlink.Link) error { return h.LinkSetUp(l) })
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	expect(t, b, 0, 1, 1514)
}
