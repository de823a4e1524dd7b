//go:build linux

// Package virtual is the engine that runs the real engine's fabric, host
// processes and captures inside a User-Mode Linux guest, whose clock moves only
// when everything sleeps. A run is then exact on any machine, however busy, takes
// no rights, and repeats bit for bit.
//
// On the machine, Engine starts the guest and shows its progress; inside, this
// program's Inside drives the real engine on the guest as its Platform. The raw
// logs are written from inside, through hostfs, straight into the run's directory.
package virtual

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/rlimit"
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
	// Started, when set, is called with the kernel's process: see guest.Config.
	Started func(pid int)
	// Met, when set, is called at the end of a run by several guests, with how often they
	// have waited for one another, and for how long each has, by the wall clock.
	Met func(times int64, waited []time.Duration)
	// Memory is what the guest may use, in bytes; 0: worked out from fabric and traffic.
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

// checkRoom returns what this process or machine lacks for so many runs side by side.
func (e *Engine) checkRoom(f *topo.Fabric, x *emu.Experiment, runs int) error {
	size, err := e.wholeMemory(f, x)
	if err != nil {
		return err
	}
	// The guest's kernel has all files of the machine open that its processes have, and one
	// that tells of each process's system calls.
	files := guest.Descriptors + 2*len(f.Hosts) + len(x.Capture)
	// Its memory is a file.
	err = errors.Join(rlimit.Descriptors(runs*files), rlimit.AddressSpace(size), rlimit.FileSize(size),
		rlimit.Processes(runs*processes(f)))
	if err != nil {
		return err
	}
	return checkMemory(f, x, int64(runs)*size)
}

// processes is about how many processes and threads a run takes: of this program, and of
// the guest's kernel, which has one for each in the guest.
func processes(f *topo.Fabric) int { return 12 + runtime.GOMAXPROCS(0) + len(f.Hosts) }

// memory is what the guest may use, in bytes.
func (e *Engine) memory(f *topo.Fabric, x *emu.Experiment) (int64, error) {
	if e.Memory != 0 {
		return e.Memory, nil
	}
	return memory(f, x)
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
	text, err := json.Marshal(&work)
	if err != nil {
		return nil, err
	}
	size, err := e.memory(topology, x)
	if err != nil {
		return nil, err
	}
	out := &console{progress: hooks.Progress, started: started}
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	out.kill = kill
	exit, err := guest.Run(running, guest.Config{
		Kernel: e.Kernel, KernelName: e.KernelName,
		Argv: append(append([]string(nil), e.Command...), path),
		Env:  environment(),
		Show: append(show, path), SpinLimit: spinLimit,
		Memory: size, Input: text,
		Line: out.line, StallTimeout: e.stallTimeout(), Started: e.Started, Stop: ctx.Done(),
	})
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case out.failure != "":
		err = errors.New(out.failure)
	case exit != 0:
		err = fmt.Errorf("the controller in the guest ended with exit code %d:\n  %s", exit, strings.Join(out.others,
			"\n  "))
	}
	if err != nil && out.oom != "" {
		err = fmt.Errorf("the guest ran out of its %d MB of memory: shorten the run, or capture fewer nodes (%s)",
			size>>20, out.oom)
	}
	facts := &emu.Facts{Engine: e.Name(), Started: started, Startup: out.startup.Seconds(), Dilation: inner.Dilation,
		Reached: out.reached}
	return complete(dir, facts, err)
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

// oomGrace is what a guest without memory is given to write down what it has, by
// the wall clock. It may take for ever to find out that it cannot go on.
const oomGrace = 3 * time.Second

// console reads what the guest writes.
type console struct {
	progress func(units.Time)
	started  time.Time
	startup  time.Duration // until the hosts were ready to go, by the wall clock
	kill     func()        // ends the guest
	reached  units.Time
	failure  string
	oom      string   // the kernel's line about a process that it killed for want of memory
	others   []string // of the controller, not for machines
}

// The controller's lines for the engine.
const (
	reachedMark = "#reached "
	// startingMark begins a sign of life: so many hosts have started, or are ready.
	startingMark = "#starting "
	failedMark   = "#failed "
)

func (c *console) line(text string) {
	if at, ok := strings.CutPrefix(text, reachedMark); ok {
		if c.startup == 0 {
			c.startup = time.Since(c.started)
		}
		n, err := strconv.ParseInt(at, 10, 64)
		if err == nil {
			c.reached = units.Time(n)
		}
		if err == nil && c.progress != nil {
			c.progress(c.reached)
		}
		return
	}
	if strings.HasPrefix(text, startingMark) {
		return
	}
	if quoted, ok := strings.CutPrefix(text, failedMark); ok {
		if s, err := strconv.Unquote(quoted); err == nil {
			c.failure = s
		}
		return
	}
	if c.oom == "" && strings.Contains(text, "Out of memory: Killed process") {
		c.oom = strings.TrimSpace(text)
		time.AfterFunc(oomGrace, c.kill)
	}
	if c.others = append(c.others, text); len(c.others) > 10 {
		c.others = c.others[1:]
	}
}
