//go:build linux

package ring

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// date is CLOCK_REALTIME in ns, by which the kernel stamps frames.
func date(t testing.TB) int64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		t.Fatal(err)
	}
	return ts.Nano()
}

// dateWasSet reports whether the date has moved since it was begun, at the
// monotonic time then, in another way than by passing.
func dateWasSet(t testing.TB, began, then int64) bool {
	t.Helper()
	const slack = int64(10 * time.Millisecond) // between the readings of two clocks
	moved := date(t) - began - (clock.Monotonic() - then)
	return max(moved, -moved) > slack
}
