package main

import (
	"context"
	"errors"
	"runtime"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// runPoint runs one experiment and returns what is kept of it. Nothing else stays: logs go
// to memory where the engine can do that, to a directory of their own that is removed
// elsewhere. reached is called now and then with the nominal time.
func runPoint(ctx context.Context, j *sweep.Job, reached func(units.Time)) (*points.Point, error) {
	scratch, err := makeScratch()
	if err != nil {
		return nil, err
	}
	defer scratch.remove()
	dir, err := scratch.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	run := emu.RunDir{Dir: dir}
	x := j.Experiment
	opt := results.Options{Framing: framing, ToAck: toAck}
	fold, err := results.NewFold(&x, opt)
	if err != nil && !errors.Is(err, results.ErrNotFolded) {
		return nil, err
	}
	hooks := emu.Hooks{Progress: reached}
	live := fold != nil && j.Engine == emu.Model
	if live {
		hooks.CreateLog = fold.Create
		hooks.Check = func() error {
			if why := fold.Unbounded(); why != "" {
				return &unbounded{why}
			}
			return nil
		}
	}
	release, err := reserveEngine(j.Engine)
	if err != nil {
		return nil, err
	}
	defer release()
	if j.Engine == emu.Model { // it is one goroutine
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	began := threadTime()
	facts, err := engines[j.Engine].make(whileUp{}).Run(ctx, &x, run, hooks)
	grown, _ := errors.AsType[*unbounded](err)
	if err != nil && grown == nil {
		return nil, err
	}
	v, err := pointVariant(run, fold, live, facts, opt)
	if err != nil {
		return nil, err
	}
	v.Verdict = verdict.Judge(v)
	p, err := points.New(j.Engine, &x, v)
	if err != nil {
		return nil, err
	}
	if j.Engine == emu.Model {
		p.ProcessorSeconds = (threadTime() - began).Seconds()
	}
	if grown != nil {
		p.Unbounded = grown.why
	}
	return p, nil
}

// pointVariant computes the results of a run: of its files, unless they were folded as
// they were written.
func pointVariant(
	run emu.RunDir, fold *results.Fold, live bool, facts *emu.Facts, opt results.Options,
) (*results.Variant, error) {
	if live {
		return fold.Variant(facts), nil
	}
	v, err := results.Analyze(run, opt)
	if err != nil || fold == nil {
		return v, err
	}
	// The files have all but the curves, and the verdict on kernels needs the files.
	if err := fold.ReadFiles(run); err != nil {
		return nil, err
	}
	folded := fold.Variant(facts)
	v.Course, v.Curves = folded.Course, folded.Curves
	return v, nil
}

// unbounded ends a run whose queues grow without bound.
type unbounded struct{ why string }

func (u *unbounded) Error() string { return u.why }
