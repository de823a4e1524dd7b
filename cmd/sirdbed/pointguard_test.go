package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A protocol that panics fails its point, and is named.
func TestPanicIsThePointsError(t *testing.T) {
	run := runner(func(context.Context, *sweep.Job, func(units.Time)) (*points.Point, error) {
		var hosts []int
		return nil, errors.New(strings.Repeat("x", hosts[len(hosts)]))
	})
	_, err := run.guarded(t.Context(), &sweep.Job{}, nil, time.Hour)
	for _, want := range []string{"panic: ", "out of range", "TestPanicIsThePointsError", "pointguard_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// What does not end when it is told to is left behind; what ends late is not.
func TestPointThatDoesNotEnd(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	defer close(never)
	hangs := runner(func(context.Context, *sweep.Job, func(units.Time)) (*points.Point, error) {
		<-never
		return nil, nil
	})
	if _, err := hangs.guarded(interrupted, &sweep.Job{}, nil, time.Millisecond); !errors.Is(err, errNoEnd) {
		t.Errorf("got %v, want %v", err, errNoEnd)
	}
	want := &points.Point{}
	late := runner(func(ctx context.Context, _ *sweep.Job, _ func(units.Time)) (*points.Point, error) {
		<-ctx.Done()
		return want, nil
	})
	if p, err := late.guarded(interrupted, &sweep.Job{}, nil, time.Hour); p != want || err != nil {
		t.Errorf("got %v, %v, want the point", p, err)
	}
}

// aSweep is a sweep of small points on the model, and what it says first. prepare, if there is
// one, fills the store.
func aSweep(
	t *testing.T, over string, prepare func(store string, jobs []sweep.Job),
) (s *sweeper, store, announced string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	text := "name: s\nengine: model\ntopology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 1us}\n" +
		"traffic: [{name: all, pattern: poisson, sizes: wkb, load: 0.3}]\nduration: 100us\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	o := sweepOptions{over: []string{over}}
	g, err := o.grid(file)
	if err != nil {
		t.Fatal(err)
	}
	s = &sweeper{}
	if s.jobs, _, err = g.Jobs(); err != nil {
		t.Fatal(err)
	}
	store = filepath.Join(t.TempDir(), "points")
	if prepare != nil {
		prepare(store, s.jobs)
	}
	o.points, o.pointOptions.jobs = store, 1
	var said bytes.Buffer
	if err := o.begin(&said, "s", s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s, store, said.String()
}

// Where a point cannot be kept, no other is run for nothing.
func TestNoPointBeginsWhereNoneCanBeKept(t *testing.T) {
	s, store, _ := aSweep(t, "seed=1..5", nil)
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	err := s.run(t.Context())
	if err != nil || s.late != 5 || len(s.failures) != 0 {
		t.Fatalf("%v, %d left, failed: %v", err, s.late, s.failures)
	}
	err = s.outcome(io.Discard, nil)
	if err == nil || !strings.Contains(err.Error(), "5 points of 5 missing: points cannot be kept: ") {
		t.Errorf("got %v", err)
	}
}

// After the first that could not be kept none is run, even if it could be.
func TestNoPointBeginsAfterOneThatWasNotKept(t *testing.T) {
	s, store, _ := aSweep(t, "seed=1..2", nil)
	s.giveUp(0, errors.New("no room"))
	s.one(t.Context(), 1)
	if entries, err := os.ReadDir(store); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v: want no point", entries, err)
	}
}

// Files that are no points are named before anything is run.
func TestDamagedPointsAreNamedFirst(t *testing.T) {
	s, _, said := aSweep(t, "seed=1..2", func(store string, jobs []sweep.Job) {
		must(t, os.Mkdir(store, 0o777))
		must(t, os.WriteFile(filepath.Join(store, jobs[1].Address.Key+".json"), []byte("{"), 0o666))
	})
	if want := "to be run again: " + s.store.Path() + "/" + s.jobs[1].Address.Key + ".json: damaged"; len(s.missing) != 2 ||
		!strings.Contains(said, want) {
		t.Errorf("%d are missing, and it says\n%swant %q", len(s.missing), said, want)
	}
}
