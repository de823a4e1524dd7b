package timer

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A check is due once for each Arm, which does not put off one that is armed.
func TestWatch(t *testing.T) {
	l := Watch{Every: 100}
	if l.Due(1<<40) || l.At() != units.Never {
		t.Fatal("due though it is not armed")
	}
	l.Arm(10)
	l.Arm(50)
	if l.At() != 110 || l.Due(109) || !l.Due(110) || l.Due(1000) || l.At() != units.Never {
		t.Error("not due once, at 110")
	}
	l.Arm(120)
	if l.At() != 220 {
		t.Errorf("due at %v, want 220", l.At())
	}
}

func TestBackoffDoublesUpToSixteenTimes(t *testing.T) {
	wait := transport.Time(7)
	for i, want := range []transport.Time{14, 28, 56, 112, 112, 112} {
		if wait = Backoff(wait, 7); wait != want {
			t.Errorf("wait %d is %v, want %v", i, wait, want)
		}
	}
}
