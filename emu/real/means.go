//go:build linux

package real

import (
	"os"
	"runtime"
	"strings"

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

// String is what is done, as facts and doctor state it; "" for nothing.
func (m Means) String() string {
	var list []string
	if m.Policy != clock.Ordinary {
		list = append(list, string(m.Policy))
	}
	if m.Awake {
		list = append(list, "kept awake")
	}
	return strings.Join(list, ", ")
}

// MeansFor are the means of a run. Stretched, hosts use little of the processors, which
// are kept awake, and may go before everything else. In real time they use what there is:
// before everything else they would starve the kernel's soft interrupts, which carry
// their packets, and a processor that never sleeps has less to give.
func MeansFor(realTime bool) Means {
	m := Means{Awake: !realTime && canStayAwake()}
	switch {
	case !realTime && Probe(clock.RealTime) == nil:
		m.Policy = clock.RealTime
	case Probe(clock.ShortSlice) == nil:
		m.Policy = clock.ShortSlice
	}
	return m
}

// canStayAwake reports whether this process can keep processors awake.
func canStayAwake() bool {
	f, err := os.Open(busyFile)
	if err != nil {
		return false
	}
	f.Close()
	return true
}
