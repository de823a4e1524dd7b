//go:build linux

package ring

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// next waits for a tap's next frame.
func next(t testing.TB, tap *Tap) Frame {
	t.Helper()
	for {
		if f, ok := tap.Next(); ok {
			return f
		}
		ready, _, err := tap.Wait(clock.Monotonic()+int64(patience), nil)
		if err != nil || ready == 0 {
			t.Fatalf("no frame: %v, %v", ready, err)
		}
	}
}

func TestTapSeesBothDirections(t *testing.T) {
	p := newPair(t, 1500)
	a, b := p.open(t, p.a, Config{}), p.open(t, p.b, Config{})
	both := p.openTap(t, p.a, TapConfig{})
	in := p.openTap(t, p.a, TapConfig{ReceivedOnly: true, Protocol: testType})
	before := date(t)
	for i := range uint64(100) {
		from := a
		if i%2 == 1 {
			from = b
		}
		commit(from, i, lengthOf(i, 1514))
		if err := from.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	last := int64(0)
	for i := range uint64(100) {
		f := next(t, both)
		number, err := check(f.Data)
		if err != nil || number != i || f.Outgoing != (i%2 == 0) || f.Length != lengthOf(i, 1514) ||
			len(f.Data) != f.Length {
			t.Fatalf("frame %d: %d, outgoing %v, %d of %d bytes, %v", i, number, f.Outgoing, len(f.Data), f.Length, err)
		}
		if f.Realtime < last || f.Realtime < before || f.Realtime > date(t) {
			t.Fatalf("frame %d is stamped %d", i, f.Realtime)
		}
		last = f.Realtime
		if i%2 == 0 {
			continue
		}
		if f := next(t, in); f.Outgoing {
			t.Fatalf("an outgoing frame on a tap for received ones")
		} else if number, err := check(f.Data); err != nil || number != i {
			t.Fatalf("received frame %d: %d, %v", i, number, err)
		}
	}
}

// Blocks wrap many times; nothing is lost, and truncated frames keep their
// first bytes and their length.
func TestTapWrapsAndTruncates(t *testing.T) {
	const n, snaplen, longest = 20000, 96, 9014
	p := newPair(t, 9000)
	a := p.open(t, p.a, Config{})
	whole := p.openTap(t, p.b, TapConfig{BlockSize: 128 << 10, Blocks: 8})
	short := p.openTap(t, p.b, TapConfig{BlockSize: 32 << 10, Blocks: 4, Snaplen: snaplen})
	for sent := uint64(0); sent < n; {
		first := sent
		for ; sent < first+20; sent++ {
			if !commit(a, sent, lengthOf(sent, longest)) {
				t.Fatal("send ring full")
			}
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		for i := first; i < sent; i++ {
			for tap, keep := range map[*Tap]int{whole: longest, short: snaplen} {
				f := next(t, tap)
				number, err := check(f.Data)
				if length := lengthOf(i, longest); err != nil || number != i || f.Length != length ||
					len(f.Data) != min(length, keep) {
					t.Fatalf("frame %d: %d, %d of %d bytes, %v", i, number, len(f.Data), f.Length, err)
				}
			}
		}
	}
	for _, tap := range []*Tap{whole, short} {
		if drops, err := tap.Drops(); drops != 0 || err != nil {
			t.Errorf("%d drops, %v", drops, err)
		}
	}
}

func TestTapCountsDrops(t *testing.T) {
	p := newPair(t, 1500)
	a := p.open(t, p.a, Config{})
	// The witness, being older, gets each frame after the tap
	// (net/core/dev.c, dev_add_pack).
	witness := p.open(t, p.b, Config{})
	tap := p.openTap(t, p.b, TapConfig{BlockSize: 4096, Blocks: 2})
	const n = 100
	for i := range uint64(n) {
		commit(a, i, lengthOf(i, 1514))
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, witness, 0, n, 1514)
	drops, err := tap.Drops()
	if err != nil || drops == 0 || drops >= n {
		t.Fatalf("%d drops, %v", drops, err)
	}
	kept := uint64(0)
	for ; kept < n-drops; kept++ {
		if number, err := check(next(t, tap).Data); err != nil || number != kept {
			t.Fatalf("frame %d: %d, %v", kept, number, err)
		}
	}
	if _, ok := tap.Next(); ok {
		t.Error("a frame that was counted as dropped")
	}
}

func TestTapRefusesImpossibleRings(t *testing.T) {
	p := newPair(t, 9000)
	for _, c := range []TapConfig{
		{Retire: time.Microsecond},
		{Retire: -time.Millisecond},
		{BlockSize: 4096},
		{BlockSize: 100_000},
		{Blocks: 1},
		{Snaplen: -1},
	} {
		c.Interface = p.end(p.a)
		err := p.a.Do(func() error { _, err := OpenTap(c); return err })
		if !errors.Is(err, unix.EINVAL) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
