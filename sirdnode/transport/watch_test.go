package transport

import (
	"testing"

	"sirdbed/topo/units"
)

// A look is due once for each Watch, which does not put off one that is set.
func TestLookout(t *testing.T) {
	l := Lookout{Every: 100}
	if l.Due(1<<40) || l.At() != units.Never {
		t.Fatal("due though nothing is watched")
	}
	l.Watch(10)
	l.Watch(50)
	if l.At() != 110 || l.Due(109) || !l.Due(110) || l.Due(1000) || l.At() != units.Never {
		t.Error("not due once, at 110")
	}
	l.Watch(120)
	if l.At() != 220 {
		t.Errorf("due at %v, want 220", l.At())
	}
}

func TestBackoffDoublesUpToSixteenTimes(t *testing.T) {
	wait := Time(7)
	for i, want := range []Time{14, 28, 56, 112, 112, 112} {
		if wait = Backoff(wait, 7); wait != want {
			t.Errorf("wait %d is %v, want %v", i, wait, want)
		}
	}
}
