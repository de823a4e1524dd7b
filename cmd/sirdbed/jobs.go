package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// checkJobs refuses a number of --jobs that the engine cannot have.
func (r *scenarioRun) checkJobs(jobs int, given bool) error {
	switch {
	case !given:
		return nil
	case jobs < 1:
		return badInput(fmt.Errorf("--jobs is %d: want 1 or more", jobs))
	case jobs > 1 && engines[r.engine].atOnce == nil:
		return badInput(fmt.Errorf("--jobs: variants on the engine %s are run one after another: each takes the "+
			"whole machine", r.engine))
	}
	return nil
}

// atOnce is how many variants run side by side: as many as were asked for or there are
// processors, while the process may have so many files open; one if it is shown as it goes.
func (r *scenarioRun) atOnce() int {
	n, most := r.wanted(), engines[r.engine].atOnce
	for i := 0; n > 1 && i < len(r.experiments); i++ {
		n = min(n, most(&r.experiments[i], n))
	}
	return max(n, 1)
}

// wanted is how many variants are to run side by side, whatever the machine has for them.
func (r *scenarioRun) wanted() int {
	if engines[r.engine].atOnce == nil || r.show.any() {
		return 1
	}
	n := r.jobs
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(min(n, len(r.experiments)), 1)
}

// runVariants runs all variants. What comes of each is the same whatever runs beside it.
func (r *scenarioRun) runVariants(ctx context.Context) {
	failed := make([]error, len(r.experiments))
	if n := r.atOnce(); n == 1 {
		for i := range r.experiments {
			failed[i] = r.runVariant(ctx, i)
		}
	} else {
		r.runTogether(ctx, n, failed)
	}
	for i, err := range failed {
		if err != nil && !errors.Is(err, errInterrupted) {
			r.failures = append(r.failures, failure{r.experiments[i].Variant, err})
		}
		r.interrupted = r.interrupted || errors.Is(err, errInterrupted)
	}
}

// runTogether runs n variants at a time, in their order, and fills in why they failed.
func (r *scenarioRun) runTogether(ctx context.Context, n int, failed []error) {
	if !r.json {
		r.crew = newCrew(r.stderr, r.experiments)
	}
	r.stderr = &lockedWriter{w: r.stderr}
	all := make([]int, len(r.experiments))
	for i := range all {
		all[i] = i
	}
	sideBySide(n, all, func(i int) { failed[i] = r.runVariant(ctx, i) })
}

// errInterrupted is that of a variant that an interrupt ended, or kept from its beginning.
var errInterrupted = errors.New("interrupted")

// A lockedWriter is for several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
