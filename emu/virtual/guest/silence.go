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

// A silence is how long a guest has not spoken although it could have: time in
// which this process itself stood still (stopped, or the machine asleep) does not
// count, nor does time that the guest waited for a processor.
type silence struct {
	heard  time.Time // when it last spoke, as seen at the last look
	looked time.Time
	waited time.Duration // for a processor, since it was started, at the last look
	lasts  time.Duration
}

// look counts the time since the last look. heard is when the guest last spoke,
// waited how long it has waited for a processor since it was started.
func (s *silence) look(now, heard time.Time, waited func() time.Duration) time.Duration {
	since := min(now.Sub(s.looked), 2*watchEvery)
	s.looked = now
	if !heard.Equal(s.heard) {
		s.heard, s.lasts, s.waited = heard, 0, waited()
		return 0
	}
	w := waited()
	// Several of its processes may have waited at once.
	s.lasts += max(0, since-max(0, w-s.waited))
	s.waited = w
	return s.lasts
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
