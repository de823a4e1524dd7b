//go:build linux

package real

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"sirdbed/sirdnode/clock"
)

// WakeUps is how late threads wake up after the time that they asked for: percentiles,
// by the machine's clock. All are 0 where the clock is virtual.
type WakeUps struct{ Median, P90, P99, P999 time.Duration }

// A Machine is what this machine can do, measured: the basis of the automatic
// dilation, of the ports' bursts and of what a run at dilation 1 may rest on.
type Machine struct {
	CPUs int
	// Timer is of a thread that has a processor to itself, Crowd of threads that share
	// all processors, as the hosts of a run do.
	Timer, Crowd WakeUps
	// WakeCost is the processor time that one wake-up of a crowd takes.
	WakeCost time.Duration
}

// Exact reports whether nothing is ever late, as by a virtual clock.
func (m *Machine) Exact() bool { return m.Timer == WakeUps{} && m.Crowd == WakeUps{} }

// How wake-ups are measured.
const (
	napRounds = 300
	crowds    = 4 // of which the best counts: work that came and went is not what the machine is like
	nap       = 300 * time.Microsecond
	napWork   = 20 * time.Microsecond // of a thread in a crowd, between two naps
	leastLoud = 3                     // threads for each processor that are a crowd at least
	mostLoud  = 64                    // threads that are enough of one
)

// measured is what MeasureMachine has found.
var measured = struct {
	sync.Mutex
	machines map[crowd]Machine
}{machines: map[crowd]Machine{}}

// A crowd is what wake-ups are measured of.
type crowd struct {
	threads int
	means   Means
}

// MeasureMachine measures with a crowd of as many threads as a run has hosts, three for
// each processor at least, which have what means give them. It takes about half a
// second, once for each size and means.
func MeasureMachine(hosts int, means Means) Machine {
	cpus := runtime.NumCPU()
	c := crowd{max(leastLoud*cpus, min(hosts, mostLoud)), means}
	measured.Lock()
	defer measured.Unlock()
	m, ok := measured.machines[c]
	if !ok {
		m.CPUs = cpus
		// A thread in real time may keep the collector from its processor, and wait for it
		// (clock.SetProcessPolicy).
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		defer means.keepAwake().let()
		m.Timer, _ = crowd{1, means}.wakeUps(0)
		for i := range crowds {
			if w, cost := c.wakeUps(napWork); i == 0 || w.P99 < m.Crowd.P99 {
				m.Crowd, m.WakeCost = w, cost
			}
		}
		measured.machines[c] = m
	}
	return m
}

// wakeUps has threads sleep and then work for a time, in turn, as hosts do, and returns
// how late they woke up, and the processor time of a wake-up.
func (c crowd) wakeUps(work time.Duration) (WakeUps, time.Duration) {
	type naps struct {
		late  clock.Lateness
		spent int64 // of processor time, in ns
	}
	// Threads keep their Go processor while they sleep: with one for each they meet in
	// the kernel alone, as hosts do.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + c.threads))
	ended := make(chan *naps, c.threads)
	for range c.threads {
		go func() {
			n := &naps{}
			defer func() { ended <- n }()
			// The thread ends with the goroutine, and its policy with it.
			if clock.LockThread() != nil || clock.SetPolicy(c.means.Policy) != nil {
				return
			}
			n.spent = -clock.ThreadTime()
			for range napRounds {
				until := clock.Monotonic() + nap.Nanoseconds()
				if clock.SleepUntil(until) != nil {
					return
				}
				woke := clock.Monotonic()
				n.late.Add(woke - until)
				for clock.Monotonic() < woke+work.Nanoseconds() {
				}
			}
			n.spent += clock.ThreadTime() - napRounds*work.Nanoseconds()
		}()
	}
	all := &clock.Lateness{}
	spent := int64(0)
	for range c.threads {
		n := <-ended
		all.Merge(&n.late)
		spent += n.spent
	}
	q := func(p float64) time.Duration { return time.Duration(all.Quantile(p)) }
	return WakeUps{Median: q(0.5), P90: q(0.9), P99: q(0.99), P999: q(0.999)},
		time.Duration(max(0, spent) / int64(c.threads*napRounds))
}
