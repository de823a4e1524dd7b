//go:build linux

package virtual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/virtual/crossing"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
)

// A run by several guests with one clock. Each is a process of its own with a part of the
// fabric, whose controller runs the experiment's part there; here they are started, and what
// they leave becomes one result.

// several is such a run.
type several struct {
	engine   *Engine
	x        *emu.Experiment // with its dilation
	topology *topo.Fabric
	guests   []int // by node, from 0
	parts    []*partRun
	shared   *crossing.Memory
	claims   *guest.Claims
}

// A partRun is one guest of it.
type partRun struct {
	out    console
	memory int64 // that it may use, in bytes
	exit   int   // as guest.Run returned it
	err    error
}

// runSeveral runs an experiment on more than one guest. work is what all of them are sent,
// but for their part.
func (e *Engine) runSeveral(ctx context.Context, n int, f *topo.Fabric, work job, dir emu.RunDir, path string,
	hooks emu.Hooks) (*emu.Facts, error) {

	s := &several{engine: e, x: work.Experiment, topology: f, parts: make([]*partRun, n)}
	started := time.Now()
	facts := &emu.Facts{Engine: e.Name(), Started: started, Dilation: work.Experiment.Dilation}
	var err error
	if s.guests, err = split(f, n); err != nil {
		return nil, err
	}
	ahead := time.Duration(work.Experiment.Dilation.ToKernel(lookahead(f, s.guests)))
	if s.shared, err = crossing.New(n, ahead, ringRoom(f, s.guests)); err != nil {
		return nil, err
	}
	defer s.shared.Close()
	s.claims = guest.ClaimProcessors(n)
	defer s.claims.Release()
	if err := dir.Begin(s.x); err != nil {
		return nil, err
	}
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	var all sync.WaitGroup
	for i := range s.parts {
		p := &partRun{out: console{started: started, kill: kill}}
		s.parts[i] = p
		part := work
		part.Part = &fabric.Part{Guests: s.guests, Self: i, Crossing: ahead}
		var stop <-chan struct{}
		if i == 0 { // it has the others end too, and all are as far as it is
			p.out.progress, stop = hooks.Progress, ctx.Done()
		}
		all.Go(func() {
			if p.exit, p.err = s.start(running, &part, path, stop, p); p.err != nil {
				kill() // the others would wait for it
			}
		})
	}
	all.Wait()
	if e.Met != nil {
		waited := make([]time.Duration, n)
		for i := range waited {
			waited[i] = s.shared.Waited(i)
		}
		e.Met(s.shared.Quanta(), waited)
	}
	first := &s.parts[0].out
	facts.Startup, facts.Reached = first.startup.Seconds(), first.reached
	failure := s.failure(ctx)
	if err := s.merge(dir); failure == nil {
		failure = err
	}
	return complete(dir, facts, failure)
}

// start runs a guest to its end.
func (s *several) start(ctx context.Context, part *job, path string, stop <-chan struct{}, p *partRun) (int, error) {
	var err error
	if p.memory, err = s.engine.partMemory(s.topology, s.x, s.guests, part.Part.Self); err != nil {
		return 0, err
	}
	config, err := s.engine.guestConfig(part, path, p.memory, &p.out)
	if err != nil {
		return 0, err
	}
	config.Stop = stop
	config.Crossing, config.Number, config.Claims = s.shared.File(), part.Part.Self, s.claims
	config.HeldUp = func() bool { return s.shared.HeldUp(part.Part.Self) }
	return guest.Run(ctx, config)
}

// failure is why the run failed, nil if it did not: what happened first to a guest, not
// what the others made of that. Guests are counted from 1 in it, as people do.
func (s *several) failure(ctx context.Context) error {
	var why, others error
	for i, p := range s.parts {
		if errors.Is(p.err, context.Canceled) && p.out.oom == "" {
			continue // ended for the sake of another
		}
		if p.err == nil && consequence(p.out.failure) {
			others = errLeft
			continue
		}
		if err := p.out.outcome(p.exit, p.err, p.memory); err != nil && why == nil {
			why = fmt.Errorf("guest %d of %d: %w", i+1, len(s.parts), err)
		}
	}
	return cmp.Or(ctx.Err(), why, others)
}

// consequence reports whether a guest's failure, as its controller has put it, is that another
// guest has ended: no cause of its own.
func consequence(failure string) bool { return failure == errLeft.Error() }
