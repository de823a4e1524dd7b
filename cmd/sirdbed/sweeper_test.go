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
	"sirdbed/capture/results"
	"sirdbed/scenarios/sweep"
)

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
	s = &sweeper{what: "s"}
	if s.jobs, _, err = g.Jobs(); err != nil {
		t.Fatal(err)
	}
	store = filepath.Join(t.TempDir(), "points")
	if prepare != nil {
		prepare(store, s.jobs)
	}
	o.points, o.pointOptions.jobs = store, 1
	var said bytes.Buffer
	must(t, o.begin(&said, s))
	t.Cleanup(func() { s.close() })
	s.announce(&said)
	return s, store, said.String()
}

// An interrupt ends the planning of a grid of any size.
func TestInterruptWhilePlanning(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	go func() {
		<-begun
		cancel()
	}()
	err := planned(ctx, func() error {
		close(begun)
		<-ended
		return nil
	})
	if codeOf(err) != exitStopped || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v, code %d", err, codeOf(err))
	}
	if err := planned(t.Context(), func() error { return io.ErrNoProgress }); err != io.ErrNoProgress {
		t.Error(err)
	}
}

// A job that need not be run any more, after what others found, is neither run nor missing.
func TestNeedlessJobs(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..3", nil)
	s.needless = func(i int) bool { return s.found[0] != nil && i == 2 }
	must(t, s.run(t.Context()))
	if left := s.missingPoints(); left != 0 || s.found[1] == nil || s.found[2] != nil {
		t.Errorf("%d missing; the second has a point: %v, the last: %v", left, s.found[1] != nil, s.found[2] != nil)
	}
}

// A sweep whose runs can have no files ends before the first.
func TestNoPlaceForRuns(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..2", nil)
	missing := filepath.Join(t.TempDir(), "nosuch")
	t.Setenv("TMPDIR", missing)
	o := pointOptions{points: t.TempDir()}
	err := o.begin(io.Discard, &sweeper{what: "s", jobs: s.jobs})
	if codeOf(err) != exitBadInput || !strings.Contains(err.Error(), missing+", ") {
		t.Errorf("%v, code %d", err, codeOf(err))
	}
}

// Where a point cannot be kept, no other is run for nothing.
func TestNoPointBeginsWhereNoneCanBeKept(t *testing.T) {
	s, store, _ := aSweep(t, "seed=1..5", nil)
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	err := s.run(t.Context())
	if left := s.missingPoints(); err != nil || left != 5 || len(s.failures) != 0 {
		t.Fatalf("%v, %d left, failed: %v", err, left, s.failures)
	}
	err = s.outcome(io.Discard, nil)
	if err == nil || !strings.Contains(err.Error(), "5 points of 5 missing, for which there was no place: ") {
		t.Errorf("got %v", err)
	}
}

// A point that fails keeps no other from being run.
func TestOnePointFails(t *testing.T) {
	s, store, _ := aSweep(t, "seed=1..3", nil)
	must(t, os.Mkdir(filepath.Join(store, s.jobs[1].Address.Key+".json"), 0o777))
	must(t, s.run(t.Context()))
	if len(s.failures) != 1 || s.found[0] == nil || s.found[1] != nil || s.found[2] == nil {
		t.Errorf("failed: %v; found %v", s.failures, s.found)
	}
	if err := s.outcome(io.Discard, nil); codeOf(err) != exitFailed {
		t.Errorf("got %v", err)
	}
}

// What went wrong with the run is told even if its results cannot be shown.
func TestResultsThatCannotBeShown(t *testing.T) {
	for name, c := range map[string]struct {
		interrupted bool
		want        int
	}{"all were run": {false, exitFailed}, "interrupted": {true, exitStopped}} {
		s, _, _ := aSweep(t, "seed=1..2", nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if c.interrupted {
			cancel()
		}
		var said bytes.Buffer
		err := s.complete(ctx, &said, func() error { return errors.New("no room to show") })
		if codeOf(err) != c.want || !strings.Contains(said.String()+err.Error(), "no room to show") {
			t.Errorf("%s: %v, code %d\n%s", name, err, codeOf(err), &said)
		}
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
	want := "to be run again: " + s.store.Path() + "/" + s.jobs[1].Address.Key + ".json: damaged"
	if len(s.missing) != 2 || !strings.Contains(said, want) {
		t.Errorf("%d are missing, and it says\n%swant %q", len(s.missing), said, want)
	}
}

// A point that another sweep has kept in the meantime is not run once more.
func TestPointOfAnotherSweepIsTaken(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..2", nil)
	s.one(t.Context(), 0)
	p := *s.found[0]
	const seconds = 12345
	p.Result.WallSeconds = seconds // another's
	_, err := s.store.Put(&p)
	must(t, err)
	s.found[0] = nil
	s.one(t.Context(), 0)
	if got := s.found[0]; got == nil || got.Result.WallSeconds != seconds {
		t.Errorf("got %+v, want the other's", got)
	}
}

// A time in which no point ends would go on with none, however often: that is said.
func TestTimeTooShortForAnyPoint(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..2", nil)
	s.until = time.Now()
	must(t, s.run(t.Context()))
	var said bytes.Buffer
	must(t, s.outcome(&said, nil))
	if !strings.Contains(said.String(), "the shortest takes about ") {
		t.Errorf("got %s", &said)
	}
}

// A point whose figures are wrong is run again, is not believed, and makes the exit code. One that
// was ended since a queue grew is neither.
func TestInvalidPointsAreRunAgain(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..2", nil)
	s.one(t.Context(), 0)
	good := *s.found[0]
	again := func(change func(p *points.Point)) *points.Point {
		p := good
		change(&p)
		_, err := s.store.Put(&p)
		must(t, err)
		s.found, s.missing = nil, nil
		s.look()
		return s.found[0]
	}
	if again(func(p *points.Point) { p.Result.Verdict = results.Invalid }) != nil || len(s.missing) != 2 {
		t.Errorf("missing are %v", s.missing)
	}
	grown := again(func(p *points.Point) { p.Result.Verdict, p.Unbounded = results.Invalid, "it grew" })
	if grown == nil || s.believed()[0] == nil || s.outcome(io.Discard, nil) != nil {
		t.Errorf("%+v, %v", grown, s.outcome(io.Discard, nil))
	}
	grown.Unbounded = ""
	if s.believed()[0] != nil || exitCode(s.outcome(io.Discard, nil)) != exitInvalid {
		t.Errorf("%+v, %v", s.believed()[0], s.outcome(io.Discard, nil))
	}
}

// Points of a second round are counted on, and the time for the shortest is told of it too.
func TestProgressOverTwoRounds(t *testing.T) {
	s, _, _ := aSweep(t, "seed=1..3", nil)
	all := s.jobs
	s.jobs, s.found, s.missing = all[:2], nil, nil
	s.look()
	s.grow = func() ([]sweep.Job, error) {
		if len(s.jobs) == len(all) {
			return nil, nil
		}
		return all[2:], nil
	}
	var said bytes.Buffer
	s.shown.w = &said
	must(t, s.complete(t.Context(), &said, func() error { return nil }))
	if !strings.Contains(said.String(), "[3/3] ") {
		t.Errorf("got %s", &said)
	}
	said.Reset()
	s.found[2], s.shown.ended = nil, 0
	must(t, s.outcome(&said, nil))
	if !strings.Contains(said.String(), "the shortest takes about ") {
		t.Errorf("got %s", &said)
	}
}
