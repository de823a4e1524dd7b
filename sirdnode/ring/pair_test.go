//go:build linux

package ring

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/wire"
)

func TestMain(m *testing.M) { nstest.Main(m) }

// A pair is two namespaces and the veth pair between them:
//
//	a [a0]-----[b0] b
type pair struct {
	a, b *nstest.Net
}

func newPair(t testing.TB, mtu int) pair {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	p := pair{nstest.Namespace(t), nstest.Namespace(t)}
	nstest.Veth(t, p.a, p.b, mtu)
	return p
}

// open opens a socket on a's or b's end.
func (p pair) open(t testing.TB, at *nstest.Net, c Config) (s *Socket) {
	t.Helper()
	c.Interface = p.end(at)
	err := at.Do(func() (err error) {
		s, err = Open(c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (p pair) openTap(t testing.TB, at *nstest.Net, c TapConfig) (tap *Tap) {
	t.Helper()
	c.Interface = p.end(at)
	err := at.Do(func() (err error) {
		tap, err = OpenTap(c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tap.Close() })
	return tap
}

func (p pair) end(at *nstest.Net) string {
	if at == p.a {
		return nstest.VethA
	}
	return nstest.VethB
}

func (p pair) change(t testing.TB, at *nstest.Net, what func(*netlink.Handle, netlink.Link) error) {
	t.Helper()
	h := at.Handle(t)
	l, err := h.LinkByName(p.end(at))
	if err == nil {
		err = what(h, l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p pair) setMTU(t testing.TB, mtu int) {
	t.Helper()
	for _, at := range []*nstest.Net{p.a, p.b} {
		p.change(t, at, func(h *netlink.Handle, l netlink.Link) error { return h.LinkSetMTU(l, mtu) })
	}
}

// testType is the EtherType of tests' frames (IEEE local experimental 1): no
// stack answers them.
const testType = 0x88b5

// minTest is the shortest frame that write makes: an Ethernet header and a
// number.
const minTest = wire.EthernetLen + 8

// write makes the frame of a number in b: the number, and bytes that follow
// from it.
func write(b []byte, number uint64) {
	binary.BigEndian.PutUint64(b, 0x02_00_00_00_00_0b_02_00)
	binary.BigEndian.PutUint32(b[8:], 0x00_00_00_0a)
	binary.BigEndian.PutUint16(b[12:], testType)
	binary.BigEndian.PutUint64(b[wire.EthernetLen:], number)
	for i := minTest; i < len(b); i++ {
		b[i] = byte(number*31) + byte(i)
	}
}

// check reads a frame back, and fails if a byte of it is wrong.
func check(b []byte) (number uint64, err error) {
	if len(b) < minTest {
		return 0, fmt.Errorf("%d bytes", len(b))
	}
	number = binary.BigEndian.Uint64(b[wire.EthernetLen:])
	if binary.BigEndian.Uint16(b[12:]) != testType || b[0] != 2 || b[11] != 0x0a {
		return number, fmt.Errorf("frame %d: header %x", number, b[:wire.EthernetLen])
	}
	for i := minTest; i < len(b); i++ {
		if b[i] != byte(number*31)+byte(i) {
			return number, fmt.Errorf("frame %d: byte %d of %d is %#x", number, i, len(b), b[i])
		}
	}
	return number, nil
}

// lengthOf gives each number a length, all of them between minTest and longest,
// and both bounds often.
func lengthOf(number uint64, longest int) int {
	r := rand.New(rand.NewPCG(number, 1))
	switch r.IntN(8) {
	case 0:
		return minTest
	case 1:
		return longest
	}
	return minTest + r.IntN(longest-minTest+1)
}

// commit queues the frame of a number, false when the ring is full.
func commit(s *Socket, number uint64, length int) bool {
	b := s.Reserve()
	if b == nil {
		return false
	}
	write(b[:length], number)
	s.Commit(length)
	return true
}

// patience is how long a test waits for what must happen before it gives up.
const patience = 20 * time.Second

// receive waits for a frame and returns it.
func receive(t testing.TB, s *Socket) ([]byte, int64) {
	t.Helper()
	for {
		if frame, stamp, ok := s.Receive(); ok {
			return frame, stamp
		}
		ready, _, err := s.Wait(clock.Monotonic()+int64(patience), nil)
		if err != nil || ready == 0 {
			drops, _ := s.Drops()
			t.Fatalf("no frame: %v, %v; the ring has dropped %d", ready, err, drops)
		}
	}
}

// expect receives the frames from..to-1 in order, each intact.
func expect(t testing.TB, s *Socket, from, to uint64, longest int) {
	t.Helper()
	for want := from; want < to; want++ {
		frame, _ := receive(t, s)
		number, err := check(frame)
		if err != nil {
			t.Fatalf("instead of frame %d: %v", want, err)
		}
		if number != want || len(frame) != lengthOf(number, longest) {
			t.Fatalf("frame %d of %d bytes, want %d of %d", number, len(frame), want, lengthOf(want, longest))
		}
		s.Release()
	}
}

// expectNothing fails if a frame is there.
func expectNothing(t testing.TB, s *Socket) {
	t.Helper()
	if frame, _, ok := s.Receive(); ok {
		t.Fatalf("a frame too many: %x", frame)
	}
}
