package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/capture/points"
	"sirdbed/emu"
	"sirdbed/scenarios/sweep"
)

// pointsDir is where points are kept unless --points names another place.
const pointsDir = resultsDir + "/points"

// pointOptions are the options that sweep and reproduce have in common: where points are
// kept, and how those that are missing are run.
type pointOptions struct {
	points string
	jobs   int
	within time.Duration
	dryRun bool
	slurm  slurmOptions

	limited func() bool // --for was given
}

// flags adds the options. dryRun says what --dry-run prints.
func (o *pointOptions) flags(f *pflag.FlagSet, dryRun string) {
	f.StringVar(&o.points, "points", pointsDir, "keep points in `DIRECTORY`")
	f.IntVar(&o.jobs, "jobs", 0, "run `N` points at once (default: one for each processor; engines model and virtual)")
	o.limited = func() bool { return f.Changed("for") }
	f.DurationVar(&o.within, "for", 0, "stop after `TIME`, in good order: no point begins that would take longer")
	f.BoolVar(&o.dryRun, "dry-run", false, dryRun)
	o.slurm.flags(f)
}

// complete completes the options' values.
func (o *pointOptions) complete(c *cobra.Command) {
	completeFlag(c, "points", directories)
	for _, flag := range []string{"jobs", "for", "slurm-option"} {
		completeFlag(c, flag, noFiles)
	}
}

// planned makes a plan, which may take long, and leaves it where it is once ctx ends: plans take no
// context.
func planned(ctx context.Context, plan func() error) error {
	done := make(chan error, 1)
	go func() { done <- plan() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &codedError{exitStopped, errors.New("interrupted: no point was run")}
	}
}

// leaveRoot has this command line run again as the user who called sudo, if one did and no job needs
// root.
func (o *pointOptions) leaveRoot(jobs []sweep.Job, out string) error {
	for i := range jobs {
		if !engines[jobs[i].Engine].asCaller {
			return nil
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	out = cmp.Or(out, resultsDir)
	if o.dryRun {
		out = ""
	}
	return leaveRoot("the engine "+string(jobs[0].Engine), out)
}

// begin opens the store and finds what is missing of s's jobs. s is to be closed.
func (o *pointOptions) begin(w io.Writer, s *sweeper) error {
	if o.within < 0 || o.within == 0 && o.limited != nil && o.limited() {
		return badInput(fmt.Errorf("--for is %v: want a time such as 2h50m", o.within))
	}
	if err := o.slurm.check(s.jobs, o.jobs); err != nil {
		return err
	}
	s.shown, s.slurm, s.asked = newSweepProgress(w), o.slurm, o.jobs
	if err := s.checkAsked(); err != nil {
		return badInput(err)
	}
	open := points.OpenStore
	if o.dryRun {
		open = points.ViewStore
	}
	var err error
	if s.store, err = open(o.points); err != nil {
		return badInput(fmt.Errorf("--points: %w", err))
	}
	if o.within > 0 {
		s.until = time.Now().Add(o.within)
	}
	s.look()
	if err := s.extend(); err != nil {
		return errors.Join(err, s.close())
	}
	s.leaveOut()
	s.atOnce = s.pointsAtOnce()
	if len(s.missing) > 0 && !o.dryRun {
		if err := o.prepare(s); err != nil {
			if !noRoom(err) {
				err = badInput(err)
			}
			return errors.Join(err, s.close())
		}
	}
	if o.dryRun {
		if err := s.check(); err != nil {
			return errors.Join(err, s.close())
		}
		s.announce(w)
	}
	return nil
}

// prepare finds out whether points can be run and kept, before hours are spent on them.
func (o *pointOptions) prepare(s *sweeper) error {
	if err := s.store.Prepare(); err != nil {
		return fmt.Errorf("--points: points cannot be kept: %w", explainPoints(err, o.points))
	}
	if s.slurm.submit { // nodes have directories of their own
		return nil
	}
	return tryScratch()
}

// close ends the use of the store.
func (s *sweeper) close() error { return s.store.Close() }

// complete runs what is missing, in a sandbox where the engine needs one, shows what was
// found, also after a failure, and says what is still missing.
func (s *sweeper) complete(ctx context.Context, w io.Writer, show func() error) error {
	if done, err := s.enter(ctx); done {
		return err
	}
	s.announce(w)
	if err := s.check(); err != nil {
		return err
	}
	err := s.run(ctx)
	for err == nil && s.grow != nil {
		s.missing = nil
		if err = s.extend(); err != nil || len(s.missing) == 0 {
			break
		}
		s.atOnce = s.pointsAtOnce()
		err = s.run(ctx)
	}
	shown := show()
	err = s.outcome(w, err)
	if shown == nil || err == nil {
		return cmp.Or(err, shown)
	}
	fmt.Fprintf(w, "the results cannot be shown: %v\n", shown)
	return err
}

// enter runs this command line again in a sandbox, if the engine of what is missing needs
// one, and returns done.
func (s *sweeper) enter(ctx context.Context) (done bool, err error) {
	for _, i := range s.missing {
		if enter := engines[s.jobs[i].Engine].enter; enter != nil {
			var list []emu.Experiment
			for _, k := range s.missing {
				list = append(list, s.jobs[k].Experiment)
			}
			return enter(ctx, list, showing{}, joining{}, " (the same command goes on with what is missing)")
		}
	}
	return false, nil
}
