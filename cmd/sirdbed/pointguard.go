package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"time"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A runner runs one experiment and returns what is kept of it, as runPoint does.
type runner func(ctx context.Context, j *sweep.Job, reached func(units.Time)) (*points.Point, error)

// errNoEnd is the error of a point that has not ended long after it was told to.
var errNoEnd = errors.New("it does not end: its protocol may be in an endless loop")

// patience is how long a point may take to end after it was told to: guests have to be killed.
const patience = 30 * time.Second

// guarded runs a point whose protocol may be anyone's: a panic is the point's error, and not
// the end of all others, and a run that does not end when it is told to is left behind.
func (run runner) guarded(
	ctx context.Context, j *sweep.Job, reached func(units.Time), patience time.Duration,
) (*points.Point, error) {
	type outcome struct {
		p   *points.Point
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o = outcome{nil, panicked(r)}
			}
			ended <- o
		}()
		o.p, o.err = run(ctx, j, reached)
	}()
	select {
	case o := <-ended:
		return o.p, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-ended:
		return o.p, o.err
	case <-time.After(patience):
		return nil, errNoEnd
	}
}

// panicked is the error of a panic, with the place in sirdbed's code where it came about. To be
// called by the function that recovers.
func panicked(reason any) error {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // not this function and its caller
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !strings.HasPrefix(f.Function, "runtime.") && f.Function != "" {
			return fmt.Errorf("panic: %v, in %s at %s:%d", reason, f.Function, path.Base(f.File), f.Line)
		}
	}
	return fmt.Errorf("panic: %v", reason)
}
