//go:build linux

package virtual

import (
	"slices"
	"testing"
	"time"
)

// The values of guests are put together call by call, however far ahead one of them is.
func TestCoordinatorAgreesCallByCall(t *testing.T) {
	c := newCoordinator(3)
	for _, s := range []struct {
		guest int
		value int64
		want  []int64
	}{
		{0, 10, nil}, {0, 11, nil}, {2, 30, nil},
		{1, 20, []int64{10, 20, 30}},
		{2, 31, nil},
		{1, 21, []int64{11, 21, 31}},
	} {
		if got := c.agree(s.guest, s.value); !slices.Equal(got, s.want) {
			t.Errorf("guest %d sends %d: got %v, want %v", s.guest, s.value, got, s.want)
		}
	}
}

// A run is over when no host was busy at one instant, in whatever order reports come.
func TestCoordinatorEndsTheRunWhenAllAreDoneAtOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports []busyReport
		want    bool
	}{
		{"one is busy yet", []busyReport{{5, 0, 0}}, false},
		{"all are done", []busyReport{{5, 0, 0}, {7, 1, 0}}, true},
		{"one was busy again before", []busyReport{{5, 0, 0}, {6, 0, 1}, {7, 1, 0}}, false},
		{"the same, late", []busyReport{{7, 1, 0}, {5, 0, 0}, {6, 0, 1}}, false},
		{"busy again after all were done", []busyReport{{5, 0, 0}, {7, 1, 0}, {8, 1, 1}}, true},
		{"done and busy at one instant", []busyReport{{5, 0, 0}, {5, 0, 2}, {7, 1, 0}}, false},
		{"busy in the instant in which the other is done", []busyReport{{5, 0, 0}, {7, 0, 1}, {7, 1, 0}}, false},
		{"not due yet", []busyReport{{5, 0, 0}, {11, 1, 0}}, false},
	} {
		coordinator := newCoordinator(2)
		for _, r := range c.reports {
			coordinator.report(r)
		}
		if got := coordinator.over(10); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Reports are taken when those of others have arrived that were sent before, also where these
// had to wait for an acknowledgement: three crossings, and some time to do it in.
func TestHoldTimeIsLongerThanNotesTake(t *testing.T) {
	for _, crossing := range []time.Duration{1, 500 * time.Microsecond, 5 * time.Millisecond, time.Second} {
		if hold := holdTime(crossing); hold < 3*crossing+100*time.Microsecond {
			t.Errorf("reports are taken after %v, and may be under way for %v", hold, 3*crossing)
		}
	}
}
