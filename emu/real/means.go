//go:build linux

package real

import (
	"runtime"

	"sirdbed/sirdnode/clock"
)

// Means are what a run does about late wake-ups.
type Means struct {
	Policy clock.Policy // of hosts
	Awake  bool         // processors are kept awake
}

// Probe reports whether this process may use a policy for its hosts.
func Probe(p clock.Policy) error {
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and the policy with it
		ended <- clock.SetPolicy(p)
	}()
	return <-ended
}

// meansFor are the means of a run. Stretched, hosts use little of the processors, and
// may go before everything else. In real time they use what there is: before everything
// else they would starve the kernel's soft interrupts, which carry their packets, and a
// processor that never sleeps has less to give.
func meansFor(realTime bool) Means {
	if !realTime && Probe(clock.RealTime) == nil {
		return Means{Policy: clock.RealTime}
	}
	if Probe(clock.ShortSlice) == nil {
		return Means{Policy: clock.ShortSlice}
	}
	return Means{}
}
