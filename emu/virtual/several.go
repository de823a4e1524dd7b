//go:build linux

package virtual

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	guests   []int // by node
	parts    []*partRun
	shared   *crossing.Memory
	claims   *guest.Claims
}

// A partRun is one guest of it.
type partRun struct {
	out  console
	exit int
	err  error
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
		if i == 0 { // who tells the others
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
	text, err := json.Marshal(part)
	if err != nil {
		return 0, err
	}
	size, err := s.engine.partMemory(s.topology, s.x, s.guests, part.Part.Self)
	if err != nil {
		return 0, err
	}
	e := s.engine
	return guest.Run(ctx, guest.Config{
		Kernel: e.Kernel, KernelName: e.KernelName,
		Argv: append(append([]string(nil), e.Command...), path),
		Env:  environment(), Show: []string{path}, Memory: size, Input: text,
		Line: p.out.line, StallTimeout: e.stallTimeout(), Started: e.Started, Stop: stop,
		Crossing: s.shared.File(), Number: part.Part.Self, Claims: s.claims,
		HeldUp: func() bool { return s.shared.HeldUp(part.Part.Self) },
	})
}

// failure is why the run failed, nil if it did not: what happened first to a guest, not
// what the others made of that.
func (s *several) failure(ctx context.Context) error {
	var why, others error
	for i, p := range s.parts {
		err := p.err
		switch {
		case err != nil && errors.Is(err, context.Canceled):
			continue // ended for the sake of another
		case err != nil:
		case p.out.failure == errLeft.Error():
			others = errLeft
			continue
		case p.out.failure != "":
			err = errors.New(p.out.failure)
		case p.exit != 0:
			err = fmt.Errorf("the controller ended with exit code %d:\n  %s", p.exit,
				strings.Join(p.out.others, "\n  "))
		}
		if err != nil && p.out.oom != "" {
			err = fmt.Errorf("ran out of its memory: shorten the run, or capture fewer nodes (%s)", p.out.oom)
		}
		if err != nil && why == nil {
			why = fmt.Errorf("guest %d of %d: %w", i+1, len(s.parts), err)
		}
	}
	return cmp.Or(ctx.Err(), why, others)
}

// wholeMemory is what all guests of an experiment may use.
func (e *Engine) wholeMemory(f *topo.Fabric, x *emu.Experiment) (sum int64, err error) {
	n := count(x)
	if n == 1 {
		return e.memory(f, x)
	}
	guests, err := split(f, n)
	if err != nil {
		return 0, err
	}
	for i := range n {
		size, e := e.partMemory(f, x, guests, i)
		sum, err = sum+size, cmp.Or(err, e)
	}
	return sum, err
}

// partMemory is what the guest with a part of the fabric may use: what a guest needs, and
// its share of what hosts and traffic do, which are not alike everywhere.
func (e *Engine) partMemory(f *topo.Fabric, x *emu.Experiment, guests []int, self int) (int64, error) {
	if e.Memory != 0 {
		return e.Memory, nil
	}
	whole, err := memory(f, x)
	if err != nil {
		return 0, err
	}
	hosts := 0
	for _, h := range f.Hosts {
		if guests[h] == self {
			hosts++
		}
	}
	const uneven = 1.5
	share := min(1, uneven*float64(hosts)/float64(len(f.Hosts)))
	return guestMemory + int64(share*float64(whole-guestMemory)), nil
}
