//go:build linux

// Package virtual is the engine that runs the real engine's fabric, host
// processes and captures inside a User-Mode Linux guest, whose clock moves only
// when everything sleeps. A run is then exact on any machine, however busy, takes
// no rights, and repeats bit for bit.
//
// On the machine, Engine starts the guest and shows its progress; inside, this
// program's Inside drives the real engine on the guest as its Platform. The raw
// logs are written from inside, through hostfs, straight into the run's directory.
//
// On the machine:
//
//	engine.go, console.go          a run by one guest; what guests write, and what that means
//	room.go, memory.go             whether it has room here
//	split.go, several.go           a run by several guests with one clock: who has which nodes,
//	                               and their start and end (package crossing has their memory)
//	merge.go, queuelog.go          what several guests leave becomes one result
//	up.go                          a fabric that is kept up, and its programs
//
// Inside a guest:
//
//	inside.go, filecache.go        the controller of a run
//	group.go, controllink.go       its end of what several controllers agree on
//	notes.go, coordinator.go       what these send one another, and who answers
//	serve.go, programs.go          the controller of a fabric that is kept up; programs
package virtual

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// DefaultDilation makes rates that are rounded to whole bytes and ns exact
// enough; idle time costs nothing, so that it is free. Kernel TCP, whose timers
// run on the kernel's clock, has emu.KernelTCPDilation instead.
const DefaultDilation units.Dilation = 1000

// Engine is the virtual engine.
type Engine struct {
	Kernel     string // path of the guest's kernel
	KernelName string // what errors call it: see guest.Config
	// Command is this program with the arguments that make it call Inside in the
	// guest.
	Command []string
	// NodeCommand is the program of a host, with arguments: see real.Engine.
	NodeCommand []string
	// Started, when set, is called with the process of each guest's kernel (guest.Config), by
	// several guests at once.
	Started func(pid int)
	// Met, when set, is called once at the end of a run by several guests, with how often they
	// have met (how many quanta there were), and for how long each of them has waited for the
	// others then, by the wall clock.
	Met func(times int64, waited []time.Duration)
	// Memory is what each guest may use, in bytes; 0: worked out from fabric and traffic.
	Memory int64
	// SpinLimit is how much processor time a guest with programs may take while its clock
	// stands still, before a program is ended for it; 0: 20 s.
	SpinLimit time.Duration
	// StallTimeout is how long a guest may write nothing, by the wall clock; 0: 90 s.
	StallTimeout time.Duration
}

// Name implements emu.Engine.
func (e *Engine) Name() emu.EngineName { return emu.Virtual }

// Check implements emu.Engine.
func (e *Engine) Check(x *emu.Experiment) error {
	if err := errors.Join(emu.CheckKernelTCP(x), emu.NoDevices(x, emu.Virtual)); err != nil {
		return err
	}
	if err := emu.CheckDilation(x); err != nil {
		return err
	}
	topology, err := topo.New(x.Topology)
	if err != nil {
		return err
	}
	if err := emu.CheckTimeline(x, topology, emu.Virtual, true); err != nil {
		return err
	}
	if err := checkSplit(topology, x, count(x)); err != nil {
		return err
	}
	return e.checkRoom(topology, x, 1)
}

// dilation is the experiment's, or what is best for its protocol.
func dilation(f *topo.Fabric, x *emu.Experiment) units.Dilation {
	switch {
	case x.Dilation != 0:
		return x.Dilation
	case emu.KernelTCP(x), len(x.Apps) > 0:
		return emu.KernelTCPDilation(f)
	}
	return DefaultDilation
}

// stallTimeout is how long the guest may write nothing, by the wall clock: 144
// hosts take a second or so for a tick.
const stallTimeout = 90 * time.Second

func (e *Engine) stallTimeout() time.Duration { return cmp.Or(e.StallTimeout, stallTimeout) }

// Run implements emu.Engine.
func (e *Engine) Run(ctx context.Context, x *emu.Experiment, dir emu.RunDir, hooks emu.Hooks) (*emu.Facts, error) {
	started := time.Now()
	path, err := shownPath(dir)
	if err != nil {
		return nil, err
	}
	topology, err := topo.New(x.Topology)
	if err != nil {
		return nil, err
	}
	if err := e.Check(x); err != nil {
		return nil, err
	}
	inner := *x
	inner.Dilation = dilation(topology, x)
	work := job{Experiment: &inner, Capture: hooks.OpenCapture != nil, Node: e.NodeCommand}
	show, spinLimit, err := e.forPrograms(x, &work)
	if err != nil {
		return nil, err
	}
	if n := count(x); n > 1 {
		return e.runSeveral(ctx, n, topology, work, dir, path, hooks)
	}
	size, err := e.memory(topology, x)
	if err != nil {
		return nil, err
	}
	out := &console{progress: hooks.Progress, started: started}
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	out.kill = kill
	config, err := e.guestConfig(&work, path, size, out)
	if err != nil {
		return nil, err
	}
	config.Show, config.SpinLimit, config.Stop = append(show, path), spinLimit, ctx.Done()
	exit, err := guest.Run(running, config)
	if err == nil {
		err = ctx.Err()
	}
	err = out.outcome(exit, err, size)
	facts := &emu.Facts{Engine: e.Name(), Started: started, Startup: out.startup.Seconds(), Dilation: inner.Dilation,
		Reached: out.reached}
	return complete(dir, facts, err)
}

// guestConfig is what each guest of a run has: the controller with a job, which sees the run's
// directory path, and a console.
func (e *Engine) guestConfig(work *job, path string, memory int64, out *console) (guest.Config, error) {
	text, err := json.Marshal(work)
	return guest.Config{
		Kernel: e.Kernel, KernelName: e.KernelName,
		Argv: append(slices.Clone(e.Command), path), Env: environment(), Show: []string{path},
		Memory: memory, Input: text,
		Line: out.line, StallTimeout: e.stallTimeout(), Started: e.Started,
	}, err
}

// shownPath is a run's directory without links: those of /proc lead a guest's kernel
// elsewhere than this process.
func shownPath(dir emu.RunDir) (string, error) {
	path, err := filepath.Abs(dir.Path())
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// environment is the same for every run, so that runs are.
func environment() []string {
	return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "TMPDIR=/run/tmp", "GOMAXPROCS=4",
		"GODEBUG=asyncpreemptoff=1", noCollector}
}

// complete fills in what only the machine knows of a run. After a guest's death
// facts are all there is.
func complete(dir emu.RunDir, facts *emu.Facts, failure error) (*emu.Facts, error) {
	started, startup := facts.Started, facts.Startup
	text, err := dir.Read(emu.FactsFile)
	if err == nil {
		err = json.Unmarshal(text, facts)
	}
	if err != nil && failure == nil {
		failure = fmt.Errorf("the guest left no facts: %w", err)
	}
	facts.Started, facts.Startup, facts.Wall = started, startup, time.Since(started).Seconds()
	facts.CPUs = runtime.NumCPU()
	// The guest's processor is infinitely fast. Its kernel counts processor time by
	// the ticks that find a process running, which means nothing over some ms.
	facts.ThreadCPU, facts.Steal = 0, 0
	if failure != nil && facts.Failure == "" {
		facts.Failure = failure.Error()
	}
	dir.OwnAll() // the guest's files
	if e := dir.End(facts); failure == nil {
		failure = e
	}
	return facts, failure
}
