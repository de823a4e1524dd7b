package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"sirdbed/emu/tree"
)

// pruneAll removes all results in a directory that may go.
func pruneAll(t *testing.T, dir string) *Pruning {
	t.Helper()
	l, err := listResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prune(l, pruneOptions{}, time.Now())
	if err != nil {
		t.Error(err)
	}
	return p
}

// Whenever prune looks, a run's result is not one yet, or is locked.
func TestPruneSparesARunThatBegins(t *testing.T) {
	all := t.TempDir()
	r, err := prepare("quickstart", runOptions{engine: "model"})
	if err != nil {
		t.Fatal(err)
	}
	r.stderr = t.Output()
	done := make(chan struct{})
	var pruner sync.WaitGroup
	pruner.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				pruneAll(t, all)
			}
		}
	})
	for i := range 100 {
		r.checksums = nil
		if r.dir, err = tree.Make(filepath.Join(all, strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
		defer r.dir.Close()
		unlock, err := r.keepScenario()
		if _, named := os.Stat(r.dir.At(scenarioFile)); err != nil || named != nil {
			t.Errorf("the result is gone, want it left alone: %v, %v", err, named)
			break
		}
		defer unlock()
	}
	close(done)
	pruner.Wait()
}

// A report that begins when prune has listed the result keeps it; prune then takes it.
func TestPruneSparesAResultThatIsBeingWritten(t *testing.T) {
	path := made(t)
	l, err := listResults(filepath.Dir(path))
	if err != nil || len(l.Results) != 1 || l.Results[0].State != Reported {
		t.Fatalf("got %+v, %v, want one result with a report", l, err)
	}
	dir, err := tree.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	unlock, err := lockResult(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prune(l, pruneOptions{}, time.Now())
	if err != nil || len(p.Removed) > 0 || len(p.Spared) != 1 || p.Spared[0].Reason != "it "+errBusy.Error() {
		t.Errorf("got %+v, %v, want it left alone", p, err)
	}
	unlock()
	if p := pruneAll(t, filepath.Dir(path)); len(p.Removed) != 1 {
		t.Errorf("got %+v, want it removed", p)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no result", err)
	}
}
