//go:build linux

package virtual

import (
	"slices"
	"testing"
)

// What guests say is put together call by call, however far apart they are.
func TestCoordinatorAgrees(t *testing.T) {
	c := newCoordinator(3)
	for _, s := range []struct {
		guest int
		said  int64
		want  []int64
	}{
		{0, 10, nil}, {0, 11, nil}, {2, 30, nil},
		{1, 20, []int64{10, 20, 30}},
		{2, 31, nil},
		{1, 21, []int64{11, 21, 31}},
	} {
		if got := c.agree(s.guest, s.said); !slices.Equal(got, s.want) {
			t.Errorf("guest %d says %d: got %v, want %v", s.guest, s.said, got, s.want)
		}
	}
}

// A run is over when no host was busy at one instant, in whatever order reports come.
func TestCoordinatorEndsTheRun(t *testing.T) {
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
