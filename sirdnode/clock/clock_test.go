package clock

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/topo/units"
)

func mustNew(t testing.TB, origin int64, dilation units.Dilation) *Clock {
	t.Helper()
	c, err := New(origin, dilation)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMonotonicIsTheKernelsClock(t *testing.T) {
	for range 1000 {
		var a, b unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &a); err != nil {
			t.Fatal(err)
		}
		m := Monotonic()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &b); err != nil {
			t.Fatal(err)
		}
		if m < a.Nano() || m > b.Nano() {
			t.Fatalf("Monotonic %d is not between %d and %d", m, a.Nano(), b.Nano())
		}
	}
}

// Both mappings against rational arithmetic.
func TestMappingIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []units.Dilation{1, 2, 3, 7, 333, 1000, 8000, 999_999, 1e6} {
		origin := r.Int64N(1 << 50)
		c := mustNew(t, origin, d)
		ratio := big.NewRat(int64(d), 1)
		for range 2000 {
			nominal := r.Int64N(1<<42) >> r.IntN(42)
			if r.IntN(4) == 0 {
				nominal = -nominal % (origin/int64(d+1) + 1)
			}
			exact := new(big.Rat).Mul(big.NewRat(nominal, 1), ratio)
			want := ceil(exact) + origin
			if got := c.ToKernel(units.Time(nominal)); got != want {
				t.Fatalf("D=%v: ToKernel(%d) = %d, want %d", d, nominal, got, want)
			}
			if back := c.ToNominal(want); back != units.Time(nominal) {
				t.Fatalf("D=%v: ToNominal(ToKernel(%d)) = %d", d, nominal, back)
			}
			kernel := r.Int64N(1<<60) >> r.IntN(60)
			exact = new(big.Rat).Quo(big.NewRat(kernel-origin, 1), ratio)
			if got, want := c.ToNominal(kernel), units.Time(floor(exact)); got != want {
				t.Fatalf("D=%v: ToNominal(%d) = %d, want %d", d, kernel, got, want)
			}
		}
	}
}

func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }
func ceil(r *big.Rat) int64  { return -floor(new(big.Rat).Neg(r)) }

func TestMappingNeverDecreases(t *testing.T) {
	for _, d := range []units.Dilation{1, 2, 3, 7, 1000} {
		c := mustNew(t, 5000, d)
		for k := range int64(20000) {
			if c.ToNominal(k) > c.ToNominal(k+1) {
				t.Fatalf("D=%v: nominal time runs backwards at %d", d, k)
			}
		}
		for n := units.Time(-2000); n < 20000; n++ {
			if c.ToKernel(n) > c.ToKernel(n+1) || n >= 0 && c.ToKernel(n) == c.ToKernel(n+1) {
				t.Fatalf("D=%v: kernel time does not advance at %d", d, n)
			}
		}
	}
}

func TestFarTimesAreForever(t *testing.T) {
	c := mustNew(t, 1<<40, 1e6)
	for _, n := range []units.Time{units.Never, units.Never - 1, 1 << 60} {
		if got := c.ToKernel(n); got != Forever {
			t.Errorf("ToKernel(%d) = %d", int64(n), got)
		}
	}
	if got := c.ToNominal(Forever); got != units.Never {
		t.Errorf("ToNominal(Forever) = %v", got)
	}
	if got := c.ToKernel(-units.Never); got != 0 {
		t.Errorf("long ago is %d", got)
	}
	if got := c.Span(units.Never); got != Forever {
		t.Errorf("Span(Never) = %d", got)
	}
	if got := mustNew(t, 0, 7).Span(3); got != 21 {
		t.Errorf("3 nominal ns at D=7 last %d, want 21", got)
	}
	if got := mustNew(t, 0, 7).SpanOf(20); got != 2 {
		t.Errorf("20 ns at D=7 are %d nominal ns, want 2", got)
	}
}

func TestNewRefusesWhatItCannotKeep(t *testing.T) {
	for _, d := range []units.Dilation{0, -1, 1e6 + 1, math.MaxInt64, math.MinInt64} {
		if _, err := New(0, d); err == nil {
			t.Errorf("dilation %v was taken", d)
		}
	}
	if _, err := New(-1, 1); err == nil {
		t.Error("a negative origin was taken")
	}
}

func TestWaitUntilIsNeverEarly(t *testing.T) {
	done := make(chan error)
	go func() { // exits locked: the thread and its slack go with it
		err := LockThread()
		c := mustNew(t, Monotonic(), 1000)
		for i := units.Time(1); i <= 50 && err == nil; i++ {
			err = c.WaitUntil(i * 300)
			if now := c.Now(); now < i*300 {
				t.Errorf("back at %v, asked for %v", now, i*300)
			}
		}
		if slack, _ := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); slack != 1 {
			t.Errorf("timer slack is %d ns", slack)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A sleeping thread keeps its Go processor, yet must not hold up the garbage
// collector, whose signal interrupts the sleep. The sleeper is left behind: it
// ends with the test process.
func TestSleepLetsTheGarbageCollectorIn(t *testing.T) {
	var awake atomic.Bool
	thread := make(chan int, 1)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		SleepUntil(Monotonic() + int64(20*time.Second))
		awake.Store(true)
	}()
	stat := fmt.Sprintf("/proc/self/task/%d/stat", <-thread)
	for {
		b, err := os.ReadFile(stat)
		if err != nil {
			t.Fatal(err)
		}
		// "pid (name) state ...": the name may hold anything.
		if b[bytes.LastIndexByte(b, ')')+2] == 'S' || awake.Load() {
			break
		}
	}
	for range 10 {
		runtime.GC()
	}
	if awake.Load() {
		t.Error("a collection lasted as long as the sleep")
	}
}

func TestSleepInterruptedIsNotEarly(t *testing.T) {
	done := make(chan int64)
	thread := make(chan int)
	deadline := Monotonic() + int64(100*time.Millisecond)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		if err := SleepUntil(deadline); err != nil {
			t.Error(err)
		}
		done <- Monotonic()
	}()
	id := <-thread
	for {
		select {
		case woke := <-done:
			if woke < deadline {
				t.Errorf("woke %d ns early", deadline-woke)
			}
			return
		default:
			// The thread may just have ended.
			if err := unix.Tgkill(unix.Getpid(), id, unix.SIGURG); err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
}

func TestClockIsSharedSafely(t *testing.T) {
	c := mustNew(t, Monotonic(), 3)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := units.Time(0)
			for range 10000 {
				now := c.Now()
				if now < last {
					t.Errorf("%v after %v", now, last)
					return
				}
				last = now
			}
		})
	}
	wg.Wait()
}

func TestClockAllocatesNothing(t *testing.T) {
	c := mustNew(t, Monotonic(), 1000)
	r := NewRealtime()
	var l Lateness
	var sink int64
	if n := testing.AllocsPerRun(1000, func() {
		now := Monotonic()
		sink += int64(c.Now()) + c.ToKernel(5) + r.ToMonotonic(now)
		r.measure()
		r.Track(now)
		l.Add(now & 0xfffff)
		if err := SleepUntil(now); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	_ = sink
}

func BenchmarkNow(b *testing.B) {
	c := mustNew(b, Monotonic(), 1000)
	for b.Loop() {
		c.Now()
	}
}
