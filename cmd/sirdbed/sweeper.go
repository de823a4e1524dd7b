package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A sweeper runs the jobs of a sweep whose points are not in its store yet, the longest
// first, several at once.
type sweeper struct {
	what   string // for people
	jobs   []sweep.Job
	store  *points.Store
	named  bool // the directory of results has a name (--out)
	asked  int  // points at once; 0: as many as there is room for
	atOnce int
	until  time.Time // no point begins that would not have ended by then; zero: no end
	shown  *sweepProgress
	round  func(i int) int // jobs of an earlier round are run first; nil: there is one
	slurm  slurmOptions
	// grow lists jobs that follow from what was found and are not among jobs yet; nil: there are
	// none.
	grow func() ([]sweep.Job, error)
	// optional reports whether a job is left out where the machine cannot run it; nil: none is.
	optional func(i int) bool
	lacks    string // which jobs were left out, and why; "": none
	// needless reports whether a job need not be run any more, after what was found; nil: all need.
	needless func(i int) bool

	missing []int // jobs whose points were not there when it looked
	stale   []int // those of them that are there by other code

	mu       sync.Mutex
	found    []*points.Point // by job: nil until it is there
	without  map[int]bool    // jobs that are left out: this machine cannot run them
	failures []failure
	noPlace  error // why points cannot be run or kept; nil: they can
}

// look finds the points that the store has, and learns how long they took. Those whose figures are
// wrong are run again: on real, the machine may have been busy.
func (s *sweeper) look() {
	from := len(s.found)
	s.found = append(s.found, make([]*points.Point, len(s.jobs)-from)...)
	for i := from; i < len(s.jobs); i++ {
		p, old := s.store.Get(s.jobs[i].Address)
		switch {
		case p == nil, !old && p.IsInvalid():
			s.missing = append(s.missing, i)
		case old:
			s.missing, s.stale = append(s.missing, i), append(s.stale, i)
		default:
			s.found[i] = p
			s.shown.learn(&s.jobs[i], p.Seconds())
		}
	}
}

// extend adds the jobs that follow from what was found, and looks for their points, of which
// others may follow.
func (s *sweeper) extend() error {
	for s.grow != nil {
		more, err := s.grow()
		if err != nil || len(more) == 0 {
			return err
		}
		s.jobs = append(s.jobs, more...)
		s.look()
	}
	return nil
}

// run runs what is missing. It returns errInterrupted if ctx ended it before its end.
func (s *sweeper) run(ctx context.Context) error {
	queue := s.order()
	if len(queue) == 0 {
		return nil
	}
	if !s.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, s.until)
		defer cancel()
	}
	sweepScratch()
	s.shown.begin(s, queue)
	err := s.runAll(ctx, queue)
	s.shown.end()
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errInterrupted
	}
	return err
}

// runAll runs jobs here or over Slurm.
func (s *sweeper) runAll(ctx context.Context, queue []int) error {
	if s.slurm.submit {
		b, err := newSlurmBatch(s, s.slurm.pass, queue)
		if err != nil {
			return err
		}
		return b.run(ctx)
	}
	for len(queue) > 0 && s.alone(queue[0]) {
		s.one(ctx, queue[0])
		queue = queue[1:]
	}
	sideBySide(s.atOnce, queue, func(i int) { s.one(ctx, i) })
	return nil
}

// alone reports whether a job takes the whole machine.
func (s *sweeper) alone(i int) bool { return engines[s.jobs[i].Engine].atOnce == nil }

// order lists what is missing as it is to be run: first what takes the whole machine, then
// earlier rounds, and of a round the longest, so that no processor is left with one at the
// end; jobs of the same experiment are run once.
func (s *sweeper) order() []int {
	queue := slices.Clone(s.missing)
	slices.SortStableFunc(queue, func(a, b int) int {
		switch {
		case s.alone(a) && !s.alone(b):
			return -1
		case s.alone(b) && !s.alone(a):
			return 1
		}
		if s.round != nil && s.round(a) != s.round(b) {
			return cmp.Compare(s.round(a), s.round(b))
		}
		return cmp.Compare(s.jobs[b].Cost, s.jobs[a].Cost)
	})
	seen := map[points.Address]bool{}
	return slices.DeleteFunc(queue, func(i int) bool {
		a := s.jobs[i].Address
		again := seen[a]
		seen[a] = true
		return again
	})
}

// one runs a job, keeps its point and shows how it went.
func (s *sweeper) one(ctx context.Context, i int) {
	j := &s.jobs[i]
	if ctx.Err() != nil || s.gaveUp() || s.tooLate(j) || s.dropNeedless(i) {
		s.shown.leave(i)
		return
	}
	if p := s.store.Fit(j.Address); p != nil { // another sweep was faster
		s.ended(i, inSeconds(p.Result.WallSeconds), p, nil)
		return
	}
	began := time.Now()
	p, err := runner(runPoint).guarded(ctx, j, func(at units.Time) { s.shown.reached(i, at) }, patience)
	if noRoom(err) {
		s.giveUp(i, explainFull(err, os.TempDir(), "runs' files", "TMPDIR"))
		return
	}
	if err == nil {
		if p, err = s.store.Put(p); err != nil && !errors.Is(err, points.ErrThisPoint) {
			s.giveUp(i, explainPoints(err, s.store.Path()))
			return
		}
	}
	if err != nil && ctx.Err() != nil {
		if errors.Is(err, errNoEnd) {
			s.shown.say("%s: %v", j.Name(), err)
		}
		s.shown.leave(i)
		return
	}
	s.ended(i, time.Since(began), p, err)
}

// dropNeedless takes a job out of those that are wanted if it need not be run any more.
func (s *sweeper) dropNeedless(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	needless := s.needless != nil && s.needless(i)
	if needless {
		s.without[i] = true
	}
	return needless
}

// ended notes a job's point, or why it failed, and shows it.
func (s *sweeper) ended(i int, took time.Duration, p *points.Point, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &s.jobs[i]
	if err != nil {
		s.failures = append(s.failures, failure{j.Name(), err})
	} else {
		for k := range s.jobs {
			if s.jobs[k].Address == j.Address {
				s.found[k] = p
			}
		}
	}
	s.shown.done(i, took, p, err)
}

// tooLate reports whether a job would not end in time.
func (s *sweeper) tooLate(j *sweep.Job) bool {
	if s.until.IsZero() {
		return false
	}
	expected, known := s.shown.expected(j)
	return known && time.Until(s.until) < expected
}

// checkAsked returns an error if the points cannot run as many at once as asked for.
func (s *sweeper) checkAsked() error {
	switch {
	case s.asked < 0:
		return fmt.Errorf("--jobs is %d: want 1 or more", s.asked)
	case s.asked > 1 && !s.slurm.submit && len(s.jobs) > 0 && !s.several():
		return fmt.Errorf("--jobs: points on the engine %s are run one after another: each takes the whole machine",
			s.jobs[0].Engine)
	}
	return nil
}

// several reports whether there are jobs that do not take the whole machine.
func (s *sweeper) several() bool {
	for i := range s.jobs {
		if !s.alone(i) {
			return true
		}
	}
	return false
}

// pointsAtOnce is how many of the missing points run at once: as many as asked for, or one for
// each processor, where engines can run several and the machine has room for them. Over Slurm it
// is one until more are seen.
func (s *sweeper) pointsAtOnce() int {
	if s.slurm.submit || !s.several() {
		return 1
	}
	var list []engineRun
	for _, i := range s.missing {
		list = append(list, engineRun{s.jobs[i].Engine, &s.jobs[i].Experiment})
	}
	return runsAtOnce(s.asked, list)
}
