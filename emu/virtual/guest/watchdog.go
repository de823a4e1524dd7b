//go:build linux

package guest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// watchEvery is how often a guest is looked at, by the wall clock.
const watchEvery = time.Second

// A watchdog measures for how long a guest has written nothing although it could
// have: time in which this process itself stood still (stopped, or the machine
// asleep) does not count, nor does time that the guest waited for a processor, or was held
// up by another one whose clock is its own.
type watchdog struct {
	output time.Time // when the guest last wrote, as seen at the last look
	looked time.Time
	waited time.Duration // for a processor, since it was started, at the last look
	stall  time.Duration
}

// look counts the time since the last look, and returns the stall so far. output
// is when the guest last wrote, waited how long it has waited for a processor
// since it was started, held whether it is held up.
func (w *watchdog) look(now, output time.Time, waited func() time.Duration, held bool) time.Duration {
	since := min(now.Sub(w.looked), 2*watchEvery)
	w.looked = now
	if !output.Equal(w.output) {
		w.output, w.stall, w.waited = output, 0, waited()
		return 0
	}
	total := waited()
	if held {
		w.waited = total
		return w.stall
	}
	// Several of its processes may have waited at once.
	w.stall += max(0, since-max(0, total-w.waited))
	w.waited = total
	return w.stall
}

// waited is how long a process and its children have waited for a processor
// since each was started; 0 where the machine's kernel does not count that.
func waited(pid int) (sum time.Duration) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, id := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		// Time on a processor, waiting for one, both in ns, and turns.
		stat, err := os.ReadFile("/proc/" + id + "/schedstat")
		if err != nil {
			continue
		}
		if f := strings.Fields(string(stat)); len(f) > 1 {
			ns, _ := strconv.ParseInt(f[1], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}
