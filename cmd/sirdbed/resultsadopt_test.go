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

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// earlier makes all points of a sweep in a store, as if by other code, and returns the store.
func earlier(t *testing.T, change func(i int, p *points.Point)) *points.Store {
	t.Helper()
	s, _, _ := aSweep(t, "seed=1..4", nil)
	must(t, s.run(t.Context()))
	for i, p := range s.found {
		p.Code = "0123456789abcdef"
		if change != nil {
			change(i, p)
		}
		_, err := s.store.Put(p)
		must(t, err)
	}
	return s.store
}

// adopted runs results adopt in a store with a runner, and returns what it says.
func adopted(t *testing.T, store *points.Store, run runner, protocols ...string) (said string, err error) {
	t.Helper()
	var out bytes.Buffer
	a := &adoption{repeat: 2, run: run, out: &out, progress: &out}
	err = a.adopt(t.Context(), store.Path(), protocols)
	return out.String(), err
}

// byCode counts a store's points of today's code, and those that say that they were made by
// another.
func byCode(t *testing.T, store *points.Store) (here, made int) {
	t.Helper()
	keys, err := store.Keys()
	must(t, err)
	for _, key := range keys {
		p, _ := store.Get(points.Address{Key: key})
		a, err := points.AddressOf(p.Engine, &p.Experiment)
		must(t, err)
		if a.Code == p.Code {
			here++
		}
		if p.Made != nil {
			made++
		}
	}
	return here, made
}

// Points whose results this code repeats are taken over, and say by which code they were made.
func TestAdoptTakesOverWhatIsTheSame(t *testing.T) {
	store := earlier(t, nil)
	runs := 0
	said, err := adopted(t, store, func(
		ctx context.Context, j *sweep.Job, reached func(units.Time),
	) (*points.Point, error) {
		runs++
		return runPoint(ctx, j, reached)
	})
	here, made := byCode(t, store)
	if err != nil || runs != 2 || here != 4 || made != 4 {
		t.Errorf("%v, %d runs, %d of today's code, %d made by other\n%s", err, runs, here, made, said)
	}
	for _, want := range []string{"seed ", "the same, in ", "4 points taken over; 2 of them repeated"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q\n%s", want, said)
		}
	}
	if said, err = adopted(t, store, runPoint); err != nil || !strings.Contains(said, "nothing to take over") {
		t.Errorf("%v, %s", err, said)
	}
}

// Which of several equally fast messages a check names depends on the machine's speed.
func TestAdoptComparesLevelsOfChecksNotTheirWords(t *testing.T) {
	reworded := func(_ int, p *points.Point) {
		for i := range p.Result.Checks {
			p.Result.Checks[i].Found = "as found by another message"
		}
	}
	said, err := adopted(t, earlier(t, reworded), runPoint)
	if err != nil || !strings.Contains(said, "4 points taken over") {
		t.Errorf("%v, %s", err, said)
	}
	said, err = adopted(t, earlier(t, func(_ int, p *points.Point) {
		p.Result.Checks[0].Level = results.Degraded
	}), runPoint)
	if codeOf(err) != exitUnmet || !strings.Contains(said, "checks.0.level was ") {
		t.Errorf("%v, %s", err, said)
	}
}

// One that differs, or cannot be run, keeps all of its protocol from being taken over, and the
// figure is named.
func TestAdoptLeavesWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i int, p *points.Point)
		run    runner
		want   string
	}{
		"a figure": {func(_ int, p *points.Point) { p.Result.GoodputGbps *= 1.001 }, runPoint, "goodput_gbps was "},
		"a part of the course": {func(_ int, p *points.Point) { p.Course.QueueMax[3] += 1000 }, runPoint,
			"course.leaf_queue_max_bytes."},
		"a failure": {nil, func(context.Context, *sweep.Job, func(units.Time)) (*points.Point, error) {
			return nil, errors.New("no such link")
		}, "no such link"},
	} {
		t.Run(name, func(t *testing.T) {
			store := earlier(t, c.change)
			said, err := adopted(t, store, c.run)
			if here, made := byCode(t, store); codeOf(err) != exitUnmet || here+made != 0 {
				t.Errorf("%v, %d of today's code, %d made by other", err, here, made)
			}
			if !strings.Contains(said, c.want) || !strings.Contains(said, "not taken over") {
				t.Errorf("it does not say %q\n%s", c.want, said)
			}
		})
	}
}

// What was ended early, or is wrong, is left as it is.
func TestAdoptLeavesWhatNoRunRepeats(t *testing.T) {
	store := earlier(t, func(i int, p *points.Point) {
		if i == 0 {
			p.Unbounded = "it grew"
		}
	})
	said, err := adopted(t, store, runPoint)
	if here, made := byCode(t, store); err != nil || here != 3 || made != 3 {
		t.Errorf("%v, %d of today's code, %d made by other\n%s", err, here, made, said)
	}
	if !strings.Contains(said, "1 point left: ") {
		t.Errorf("got %s", said)
	}
}

// A protocol that is not there is no success, and only those that are asked for are run.
func TestAdoptOfSomeProtocols(t *testing.T) {
	store := earlier(t, nil)
	if _, err := adopted(t, store, runPoint, "homo"); codeOf(err) != exitBadInput {
		t.Errorf("got %v, want bad input", err)
	}
	if said, err := adopted(t, store, runPoint, "homa"); err != nil || !strings.Contains(said, "nothing to take over") {
		t.Errorf("%v, %s", err, said)
	}
}

// What is no point is named, and a directory without points is a mistake.
func TestAdoptNamesWhatIsNoPoint(t *testing.T) {
	store := earlier(t, nil)
	keys, err := store.Keys()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(store.Path(), keys[0]+".json"), []byte("{"), 0o666))
	said, err := adopted(t, store, runPoint)
	for _, want := range []string{"not a point, and left: ", keys[0] + ".json: damaged", "3 points taken over"} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%v, it does not say %q\n%s", err, want, said)
		}
	}
	a := &adoption{repeat: 1, run: runPoint, out: io.Discard, progress: io.Discard}
	if err := a.adopt(t.Context(), filepath.Join(t.TempDir(), "nowhere"), nil); codeOf(err) != exitBadInput {
		t.Errorf("a directory that is not there: %v", err)
	}
}
