package transport

import (
	"math"
	"strings"
	"testing"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A look is due once for each Watch, which does not put off one that is set.
func TestLookout(t *testing.T) {
	l := Lookout{Every: 100}
	if l.Due(1<<40) || l.At() != units.Never {
		t.Fatal("due though nothing is watched")
	}
	l.Watch(10)
	l.Watch(50)
	if l.At() != 110 || l.Due(109) || !l.Due(110) || l.Due(1000) || l.At() != units.Never {
		t.Error("not due once, at 110")
	}
	l.Watch(120)
	if l.At() != 220 {
		t.Errorf("due at %v, want 220", l.At())
	}
}

func TestBackoffDoublesUpToSixteenTimes(t *testing.T) {
	wait := Time(7)
	for i, want := range []Time{14, 28, 56, 112, 112, 112} {
		if wait = Backoff(wait, 7); wait != want {
			t.Errorf("wait %d is %v, want %v", i, wait, want)
		}
	}
}

func TestLayoutTellsLengthOrWhatIsWrong(t *testing.T) {
	l := Layout{Version: 2, Lengths: [16]int{1: 4, 15: 6}}
	for _, c := range []struct {
		b   []byte
		n   int
		err error
	}{
		{nil, 0, wire.ErrTruncated},
		{[]byte{0x21, 0, 0}, 0, wire.ErrTruncated},
		{[]byte{0x21, 0, 0, 0}, 4, nil},
		{[]byte{0x21, 0, 0, 0, 0, 0, 0}, 4, nil},
		{[]byte{0x2f, 0, 0, 0, 0}, 0, wire.ErrTruncated},
		{[]byte{0x2f, 0, 0, 0, 0, 0}, 6, nil},
		{[]byte{0x20, 0, 0, 0, 0, 0}, 0, ErrKind},
		{[]byte{0x22, 0, 0, 0, 0, 0}, 0, ErrKind},
		{[]byte{0x11, 0, 0, 0}, 0, ErrVersion},
	} {
		if n, err := l.Len(c.b); n != c.n || err != c.err {
			t.Errorf("% x: %d (%v), want %d (%v)", c.b, n, err, c.n, c.err)
		}
	}
}

// Payload and headers fill the MTU.
func TestFramingFillsTheMTU(t *testing.T) {
	fr := FramingWith(26)(1500)
	if fr.MSS != 1442 || fr.MSS+fr.Overhead != 1500 || fr.Wire(fr.MSS) != 1538 {
		t.Errorf("%+v", fr)
	}
	for n, want := range map[Bytes]Bytes{0: 0, 1: 97, 1442: 1538, 1443: 1538 + 97, 2884: 2 * 1538} {
		if got := fr.WireOf(n); got != want {
			t.Errorf("%d bytes take %d, want %d", n, got, want)
		}
	}
}

func TestParametersOutOfRangeAreNamed(t *testing.T) {
	for _, v := range []float64{0.99, 2.01, math.NaN(), math.Inf(1)} {
		if err := InRange("gain", v, 1, 2); err == nil || !strings.HasPrefix(err.Error(), "gain is ") || !strings.HasSuffix(err.Error(), "want 1 to 2") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if InRange("gain", 1.0, 1, 2) != nil || InRange("gain", 2.0, 1, 2) != nil || InRange("wait", units.Millisecond, 0, units.Second) != nil {
		t.Error("a value in range is refused")
	}
	if err := OneOf("ecn", "some", "all", "none"); err == nil || err.Error() != `ecn is "some": want one of ["all" "none"]` {
		t.Error(err)
	}
	if OneOf("ecn", "none", "all", "none") != nil {
		t.Error("an allowed value is refused")
	}
}

// SIRD's evaluation has 100 KB at 100 Gbps; longer fabrics have their own.
func TestEvaluatedBDP(t *testing.T) {
	for _, c := range []struct {
		rate  units.BitsPerSecond
		delay units.Time
		want  Bytes
	}{{100 * units.Gbps, 1000, 100_000}, {25 * units.Gbps, 1000, 25_000}, {400 * units.Gbps, 1000, 400_000}, {100 * units.Gbps, 10_000, 0}} {
		f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: c.rate, HostDelay: c.delay})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			c.want = f.BDP()
		}
		if got := EvaluatedBDP(f); got != c.want || got < f.BDP() {
			t.Errorf("%v, %v: %d, want %d", c.rate, c.delay, got, c.want)
		}
	}
}

type failures struct {
	Sink
	reasons []string
}

func (k *failures) Failed(_ Time, _ Message, reason string) { k.reasons = append(k.reasons, reason) }

func TestEnvRefusesWhatMakesNoSense(t *testing.T) {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	k := &failures{}
	e := Env{Self: 1, Fabric: f, Sink: k}
	for peer, want := range map[HostID]bool{-1: false, 0: true, 1: false, 2: true, 3: false} {
		if e.Knows(peer) != want {
			t.Errorf("peer %d: %v", peer, !want)
		}
	}
	for size, want := range map[Bytes]bool{-1: false, 0: false, 1: true, 1000: true, 1001: false} {
		k.reasons = nil
		if e.Fits(0, Message{Size: size}, 1000) != want || (len(k.reasons) == 0) != want {
			t.Errorf("%d bytes: %v, failed with %q", size, !want, k.reasons)
		}
	}
}
