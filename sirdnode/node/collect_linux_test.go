package node

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// A host collects before its run where it ever collects, and else not even then.
func TestHostsWithoutCollectorDoNotCollect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // by itself
	for _, c := range []struct {
		gogc string
		want uint32
	}{{"400", 1}, {"", 1}, {"off", 0}} {
		t.Setenv("GOGC", c.gogc)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		collectOnce()
		runtime.ReadMemStats(&after)
		if got := after.NumGC - before.NumGC; got != c.want {
			t.Errorf("GOGC=%s: it collected %d times, want %d", c.gogc, got, c.want)
		}
	}
}
