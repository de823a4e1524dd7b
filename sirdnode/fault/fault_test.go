package fault

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

const frameLen = 1514

func mustNew(t *testing.T, c Config, seed uint64) *Shim {
	t.Helper()
	s, err := New(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verdicts(t *testing.T, c Config, seed uint64, n int) []Verdict {
	s := mustNew(t, c, seed)
	list := make([]Verdict, n)
	for i := range list {
		list[i] = s.Next(frameLen)
	}
	return list
}

var everything = Config{Drop: 0.1, Duplicate: 0.2, Reorder: 0.3, ReorderDelay: 5 * units.Microsecond, Corrupt: 0.05}

func TestSameSeedSameFaults(t *testing.T) {
	a, b := verdicts(t, everything, 7, 5000), verdicts(t, everything, 7, 5000)
	other, same := verdicts(t, everything, 8, 5000), 0
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("frame %d: %+v, then %+v", i, a[i], b[i])
		}
		if a[i] == other[i] {
			same++
		}
	}
	if same == len(a) {
		t.Error("another seed changes nothing")
	}
}

// Each kind has its own sequence: what one does is not moved by another.
func TestKindsDoNotDisturbOneAnother(t *testing.T) {
	only, all := verdicts(t, Config{Drop: everything.Drop}, 7, 5000), verdicts(t, everything, 7, 5000)
	for i := range only {
		if only[i].Drop != all[i].Drop {
			t.Fatalf("frame %d is dropped or not depending on the other faults", i)
		}
	}
	noDrops := everything
	noDrops.Drop = 0
	kept := verdicts(t, noDrops, 7, 5000)
	for i, v := range all {
		if !v.Drop && v != kept[i] {
			t.Fatalf("frame %d: %+v, without drops %+v", i, v, kept[i])
		}
	}
}

// Shares are right within 5 standard deviations, the seed being fixed.
func TestSharesAndCounters(t *testing.T) {
	const n = 100000
	s := mustNew(t, everything, 1)
	var seen Counters
	for range n {
		v := s.Next(frameLen)
		seen.Frames++
		switch {
		case v.Drop:
			seen.Dropped++
			if v.Duplicate || v.Delay != 0 || v.FlipBit != -1 {
				t.Fatalf("a dropped frame has %+v", v)
			}
			continue
		case v.FlipBit != -1:
			seen.Corrupted++
			if v.FlipBit < 14*8 || v.FlipBit >= frameLen*8 {
				t.Fatalf("bit %d", v.FlipBit)
			}
		}
		if v.Duplicate {
			seen.Duplicated++
		}
		if v.Delay != 0 {
			seen.Delayed++
			if v.Delay < 1 || v.Delay > everything.ReorderDelay {
				t.Fatalf("delay %v", v.Delay)
			}
		}
	}
	if seen != s.Counters() {
		t.Errorf("counters %+v, seen %+v", s.Counters(), seen)
	}
	survive := 1 - everything.Drop
	for _, c := range []struct {
		name string
		got  uint64
		p    float64
	}{
		{"drop", seen.Dropped, everything.Drop},
		{"duplicate", seen.Duplicated, everything.Duplicate * survive},
		{"reorder", seen.Delayed, everything.Reorder * survive},
		{"corrupt", seen.Corrupted, everything.Corrupt * survive},
	} {
		t.Run(c.name, func(t *testing.T) {
			if dev := math.Abs(float64(c.got) - n*c.p); dev > 5*math.Sqrt(n*c.p*(1-c.p)) {
				t.Errorf("%d of %d, want %v", c.got, n, c.p)
			}
		})
	}
}

func TestNeverAndAlways(t *testing.T) {
	for _, v := range verdicts(t, Config{}, 1, 1000) {
		if v != (Verdict{FlipBit: -1}) {
			t.Fatalf("no faults, but %+v", v)
		}
	}
	for _, v := range verdicts(t, Config{Duplicate: 1, Reorder: 1, Corrupt: 1}, 1, 1000) {
		if !v.Duplicate || v.Delay < 1 || v.Delay > defaultReorderDelay || v.FlipBit < 0 {
			t.Fatalf("all faults, but %+v", v)
		}
	}
	for _, v := range verdicts(t, Config{Drop: 1, Corrupt: 1}, 1, 1000) {
		if !v.Drop {
			t.Fatalf("all dropped, but %+v", v)
		}
	}
	var none *Shim
	if v := none.Next(frameLen); v != (Verdict{FlipBit: -1}) || none.Counters() != (Counters{}) {
		t.Errorf("a nil shim says %+v", v)
	}
}

// Every bit past the Ethernet header is reached, none of the header, and
// frames without any are left alone.
func TestFlipReachesEveryBit(t *testing.T) {
	s := mustNew(t, Config{Corrupt: 1}, 1)
	flipped := make([]byte, 18)
	for range 2000 {
		frame := make([]byte, len(flipped))
		bit := s.Next(len(frame)).FlipBit
		Flip(frame, bit)
		ones := 0
		for i := range frame {
			flipped[i] |= frame[i]
			for b := frame[i]; b != 0; b &= b - 1 {
				ones++
			}
		}
		if ones != 1 || frame[bit/8]>>(7-bit%8)&1 != 1 {
			t.Fatalf("bit %d gave %x", bit, frame)
		}
	}
	for i, b := range flipped {
		if want := map[bool]byte{true: 0xff}[i >= 14]; b != want {
			t.Errorf("byte %d: bits %08b were flipped", i, b)
		}
	}
	corrupted := s.Counters().Corrupted
	for _, length := range []int{0, 13, 14} {
		if v := s.Next(length); v.FlipBit != -1 {
			t.Errorf("bit %d of a frame of %d bytes", v.FlipBit, length)
		}
	}
	if s.Counters().Corrupted != corrupted {
		t.Error("counted what did not happen")
	}
	Flip(nil, -1)
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for field, c := range map[string]Config{
		"drop":          {Drop: -0.1},
		"duplicate":     {Duplicate: 1.1},
		"reorder":       {Reorder: math.NaN()},
		"corrupt":       {Corrupt: math.Inf(1)},
		"reorder_delay": {Reorder: 0.1, ReorderDelay: 2 * units.Second},
	} {
		_, err := New(c, 1)
		var spec *topo.SpecError
		if !errors.As(err, &spec) || spec.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := (Config{ReorderDelay: 1}).Validate(); err == nil || !strings.Contains(err.Error(), "without reorder") {
		t.Errorf("a delay for nothing: %v", err)
	}
	if (Config{}).Enabled() || !(Config{Corrupt: 0.1}).Enabled() {
		t.Error("Enabled is wrong")
	}
	var c Config
	if err := json.Unmarshal([]byte(`{"drop":0.5,"reorder":0.1,"reorder_delay":"3us"}`), &c); err != nil ||
		c != (Config{Drop: 0.5, Reorder: 0.1, ReorderDelay: 3 * units.Microsecond}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestShimsOfSeveralHostsRunSideBySide(t *testing.T) {
	want := verdicts(t, everything, 3, 2000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := New(everything, 3)
			for i := 0; err == nil && i < len(want); i++ {
				if v := s.Next(frameLen); v != want[i] {
					t.Errorf("frame %d: %+v", i, v)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestShimAllocatesNothing(t *testing.T) {
	s, h := mustNew(t, everything, 1), NewDelayLine(8, frameLen)
	frame, now := make([]byte, frameLen), units.Time(0)
	if n := testing.AllocsPerRun(5000, func() {
		v := s.Next(len(frame))
		Flip(frame, v.FlipBit)
		h.Put(now+v.Delay, frame)
		now += units.Microsecond
		h.Take(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
