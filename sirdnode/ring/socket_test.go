//go:build linux

package ring

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/wire"
)

func TestFrameSizeHoldsAFrame(t *testing.T) {
	for mtu, want := range map[int]int{256: 2048, 1500: 2048, 1964: 2048, 1965: 4096, 4000: 4096, 9000: 16384} {
		if got := FrameSize(mtu); got != want {
			t.Errorf("MTU %d: frames of %d bytes, want %d", mtu, got, want)
		}
	}
}

// Both rings wrap hundreds of times; batches are of all sizes up to the
// smaller ring.
func TestFramesArriveIntactOnceAndInOrder(t *testing.T) {
	const n = 20000
	for name, mtu := range map[string]int{"mtu 1500": 1500, "mtu 9000": 9000} {
		for _, bypass := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", qdisc bypassed"}[bypass], func(t *testing.T) {
				p := newPair(t, mtu)
				a := p.open(t, p.a, Config{TxFrames: 32, BypassQdisc: bypass})
				b := p.open(t, p.b, Config{RxFrames: 64})
				longest := mtu + wire.EthernetLen
				for sent, batch := uint64(0), uint64(1); sent < n; batch = batch%24 + 1 {
					first := sent
					for ; sent < min(first+batch, n); sent++ {
						if !commit(a, sent, lengthOf(sent, longest)) {
							t.Fatalf("ring full at frame %d, %d pending", sent, a.Pending())
						}
					}
					if err := a.Flush(); err != nil {
						t.Fatalf("frame %d: %v", sent, err)
					}
					expect(t, b, first, sent, longest)
					if a.Pending() != 0 {
						t.Fatalf("%d frames pending after they arrived", a.Pending())
					}
				}
				expectNothing(t, b)
				expectNothing(t, a) // its own frames are not received
				if stats, err := b.Stats(); err != nil || stats != (Stats{}) {
					t.Errorf("receiver: %+v, %v", stats, err)
				}
			})
		}
	}
}

// Sender and receiver on two threads at once.
func TestFramesArriveWhileOthersAreSent(t *testing.T) {
	const n, longest = 50000, 1514
	p := newPair(t, 1500)
	a := p.open(t, p.a, Config{})
	b := p.open(t, p.b, Config{RxFrames: n}) // none is lost however late the receiver is
	failed := make(chan error, 1)
	go func() {
		for sent := uint64(0); sent < n; {
			for range 32 {
				if sent < n && commit(a, sent, lengthOf(sent, longest)) {
					sent++
				}
			}
			if err := a.Flush(); err != nil && !errors.Is(err, ErrBackPressure) {
				failed <- err
				return
			}
		}
		for a.Unsent() > 0 {
			a.Flush()
		}
		failed <- nil
	}()
	expect(t, b, 0, n, longest)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	expectNothing(t, b)
}

func TestStampsAreMonotoneAndWithinBounds(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	began, then := date(t), clock.Monotonic()
	last := int64(0)
	for i := range uint64(1000) {
		commit(a, i, 64)
		before := date(t)
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		_, stamp := receive(t, b)
		now := date(t)
		b.Release()
		if dateWasSet(t, began, then) {
			t.Skip("the machine's date was set during the test")
		}
		if stamp < before || stamp > now {
			t.Fatalf("frame %d stamped %d ns after it was sent, %d ns before it was received", i, stamp-before,
				now-stamp)
		}
		if stamp < last {
			t.Fatalf("frame %d stamped %d ns before the one in front of it", i, last-stamp)
		}
		last = stamp
	}
}

func TestDropsAreCountedWhenNobodyReads(t *testing.T) {
	const sent = 500
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{RxFrames: 64})
	room, _ := b.Capacity()
	for i := range uint64(sent) {
		if !commit(a, i, lengthOf(i, 1514)) {
			t.Fatal("send ring full")
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	// The last frames may still be on their way. The count goes on over many
	// readings, each of which resets the kernel's.
	for deadline := clock.Monotonic() + int64(patience); ; {
		drops, err := b.Drops()
		if drops == sent-uint64(room) {
			break
		}
		if err != nil || clock.Monotonic() > deadline {
			t.Fatalf("%d drops of %d frames with room for %d, %v", drops, sent, room, err)
		}
	}
	expect(t, b, 0, uint64(room), 1514) // the oldest survive
	expectNothing(t, b)
	if drops, err := b.Drops(); err != nil || drops != sent-uint64(room) {
		t.Errorf("%d drops in the end, %v", drops, err)
	}
}

// The frame and its length are as the ring has room; the loss is counted.
func TestFramesLongerThanTheRingsAreCutAndCounted(t *testing.T) {
	p := newPair(t, 1500)
	b := p.open(t, p.b, Config{})
	p.setMTU(t, 9000)
	a := p.open(t, p.a, Config{})
	for i, length := range []int{1514, 9014, 1514} {
		write(a.Reserve()[:length], uint64(i))
		a.Commit(length)
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1514, 2048 - receiveOffset, 1514} {
		frame, _ := receive(t, b)
		if number, err := check(frame); err != nil || number != uint64(i) || len(frame) != want {
			t.Fatalf("frame %d of %d bytes, want %d of %d; %v", number, len(frame), i, want, err)
		}
		b.Release()
	}
	if stats, err := b.Stats(); err != nil || stats != (Stats{Truncated: 1}) {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestProtocolAndOutgoingSelectFrames(t *testing.T) {
	p := newPair(t, 1500)
	sender := p.open(t, p.a, Config{Outgoing: true})
	nosy := p.open(t, p.a, Config{Outgoing: true})
	quiet := p.open(t, p.a, Config{})
	all := p.open(t, p.b, Config{Protocol: unix.ETH_P_ALL})
	ours := p.open(t, p.b, Config{Protocol: testType})
	ip := p.open(t, p.b, Config{Protocol: unix.ETH_P_IP})
	commit(sender, 0, lengthOf(0, 1514))
	if err := sender.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Socket{nosy, all, ours} {
		expect(t, s, 0, 1, 1514)
		expectNothing(t, s)
	}
	expectNothing(t, sender)
	expectNothing(t, quiet)
	expectNothing(t, ip)
}

func TestReceiveKeepsTheFrameUntilRelease(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	b.Release() // nothing to release: nothing happens
	expectNothing(t, b)
	for i := range uint64(2) {
		commit(a, i, lengthOf(i, 1514))
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.Wait(clock.Monotonic()+int64(patience), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Release() // it came after the last Receive, and is not lost
	first, _ := receive(t, b)
	again, _ := receive(t, b)
	if &first[0] != &again[0] {
		t.Error("the frame changed without Release")
	}
	expect(t, b, 0, 2, 1514)
	b.Release()
	expectNothing(t, b)
}

func TestOpenByIndexAndItsErrors(t *testing.T) {
	p := newPair(t, 1500)
	err := p.a.Do(func() error {
		l, err := netlink.LinkByName(p.end(p.a))
		if err != nil {
			return err
		}
		s, err := Open(Config{Index: l.Attrs().Index})
		if err != nil {
			return err
		}
		if s.MTU() != 1500 || s.link.name != p.end(p.a) {
			t.Errorf("interface %q, MTU %d", s.link.name, s.MTU())
		}
		return errors.Join(s.Close(), s.Close())
	})
	if err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		config Config
		want   error
		says   string
	}{
		{Config{Interface: "nosuch0"}, unix.ENODEV, "nosuch0"},
		{Config{Index: 4711}, unix.ENODEV, "4711"},
		{Config{Interface: "a-name-far-too-long"}, unix.EINVAL, "a-name-far-too-long"},
		{Config{Interface: p.end(p.a), RxFrames: -1}, unix.EINVAL, "-1"},
		{Config{Interface: "lo"}, unix.ENETDOWN, "lo"},
	} {
		before := descriptors(t)
		err := p.a.Do(func() error { _, err := Open(c.config); return err })
		var op *OpError
		if !errors.Is(err, c.want) || !errors.As(err, &op) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.config, err)
		}
		if after := descriptors(t); after != before {
			t.Errorf("%+v: %d descriptors before, %d after", c.config, before, after)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestHotPathAllocatesNothing(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	tap := p.openTap(t, p.b, TapConfig{})
	extra := []unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}
	number := uint64(0)
	if n := testing.AllocsPerRun(2000, func() {
		if !commit(a, number, 200) || a.Flush() != nil || a.Pending() != 0 || a.Unsent() != 0 {
			t.Fatal("not sent")
		}
		number++
		if _, _, err := b.Wait(clock.Forever, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := b.Receive(); !ok {
			t.Fatal("not received")
		}
		b.Release()
		now := clock.Monotonic()
		if _, _, err := b.Wait(now+1000, extra); err != nil {
			t.Fatal(err)
		}
		if _, _, err := tap.Wait(now, nil); err != nil {
			t.Fatal(err)
		}
		tap.Next()
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
