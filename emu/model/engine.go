package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Engine is the model as an engine for experiments. Its zero value works.
type Engine struct {
	// Bytes has real frames arrive at hosts, with payload and checksums, which
	// costs a third of the speed. Corruption faults switch it on.
	Bytes bool
}

var _ emu.Engine = Engine{}

// Name implements emu.Engine.
func (Engine) Name() emu.EngineName { return emu.Model }

// Check implements emu.Engine: the protocol must be a transport, no host a device, and
// there are no programs.
func (Engine) Check(x *emu.Experiment) error {
	return cmp.Or(emu.NoKernelTCP(x), emu.NoApps(x), emu.NoDevices(x, emu.Model))
}

// Descriptors is how many files a run has open, at most: base for the process itself, a
// log for each host, that of the queues, and one for each capture.
func Descriptors(x *emu.Experiment) int {
	const base = 16
	return base + x.Topology.Leaves*x.Topology.HostsPerLeaf + 1 + len(x.Capture)
}

const (
	eventsPerLook = 4096                   // between two looks at the context: about a millisecond
	progressEvery = 250 * time.Millisecond // of wall time
	looksPerCheck = 64                     // between two calls of Hooks.Check
)

// Run implements emu.Engine. When the messages have had their time, hosts send
// nothing more and what is still under way arrives, so that packets sent are
// packets received and drops.
func (e Engine) Run(ctx context.Context, x *emu.Experiment, dir emu.RunDir, hooks emu.Hooks) (*emu.Facts, error) {
	facts := &emu.Facts{
		Engine: e.Name(), Started: time.Now(), Dilation: 1, CPUs: runtime.NumCPU(),
		Features: emu.Features{Marker: emu.StepMarker, MarkerScope: emu.PerPort, Payload: emu.PayloadLengths},
	}
	if e.Bytes || x.Faults.Corrupt > 0 || x.Timeline.Corrupts() {
		facts.Features.Payload = emu.PayloadBytes
	}
	r := &run{engine: e, x: x, dir: dir, hooks: hooks}
	err := errors.Join(e.Check(x), r.dir.Begin(x))
	if err == nil {
		err = r.run(ctx)
	}
	if r.sim != nil {
		r.sim.facts(facts)
	}
	for i := range facts.Hosts {
		facts.Hosts[i].Finished = r.finished
	}
	if err != nil {
		facts.Failure = err.Error()
	}
	facts.Wall = time.Since(facts.Started).Seconds()
	return facts, errors.Join(err, r.dir.End(facts))
}

// A run is one experiment on its way.
type run struct {
	engine   Engine
	x        *emu.Experiment
	dir      emu.RunDir
	hooks    emu.Hooks
	sim      *Sim
	files    []io.Closer
	queues   *record.Writer // in files too
	finished bool
	shown    time.Time // when progress was last reported
	looks    int       // that have been taken
}

func (r *run) run(ctx context.Context) (err error) {
	defer func() {
		for _, f := range r.files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := r.setUp(); err != nil {
		return err
	}
	err = r.play(ctx)
	return errors.Join(err, r.finish())
}

// setUp makes the simulation and opens its logs.
func (r *run) setUp() error {
	x := r.x
	fabric, err := topo.New(x.Topology)
	if err != nil {
		return err
	}
	if len(fabric.Ports) > math.MaxUint16 {
		return fmt.Errorf("the fabric has %d ports: logs tell %d apart", len(fabric.Ports), math.MaxUint16)
	}
	protocol, err := all.Find(x.Protocol)
	if err != nil {
		return err
	}
	params, err := all.DecodeParams(protocol, fabric, x.Params)
	if err != nil {
		return err
	}
	logs := make([]io.WriteCloser, len(fabric.Hosts))
	for h := range logs {
		if logs[h], err = r.createLog(emu.HostLog(fabric.HostName(topo.HostID(h)))); err != nil {
			return err
		}
		r.files = append(r.files, logs[h])
	}
	from, to := x.Window()
	r.sim, err = New(Config{
		Fabric: fabric, Protocol: protocol, Params: params, QueueLimit: x.QueueLimit,
		Streams: x.Streams, Seed: x.Seed, From: from, To: to,
		Bytes: r.engine.Bytes, Faults: x.Faults, Timeline: x.Timeline, GaugeEvery: x.GaugeEvery,
		Log: func(h topo.HostID) io.Writer { return logs[h] },
	})
	if err != nil {
		return err
	}
	if err := r.logQueues(); err != nil {
		return err
	}
	return r.capture()
}

// createLog begins a log: a file, unless the caller has another place for it.
func (r *run) createLog(name string) (io.WriteCloser, error) {
	if r.hooks.CreateLog != nil {
		return r.hooks.CreateLog(name)
	}
	return r.dir.Create(name)
}

// play runs until the messages' time is over and all hosts are done, or time is
// up.
func (r *run) play(ctx context.Context) error {
	_, to := r.x.Window()
	for _, phase := range []struct {
		end       units.Time
		untilDone bool
	}{{to, false}, {r.x.End(), true}} {
		end := picoseconds(phase.end)
		for {
			if err := r.look(ctx); err != nil {
				return err
			}
			if phase.untilDone && r.sim.undone == 0 {
				break
			}
			if r.sim.step(end, eventsPerLook, phase.untilDone) {
				r.sim.now = max(r.sim.now, end)
				break
			}
		}
	}
	r.sim.sampleAt = math.MaxInt64
	r.sim.beginDrain()
	for r.sim.pool.live > 0 && !r.sim.step(math.MaxInt64, eventsPerLook, false) {
		if err := r.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// look reports progress, and returns an error if the run is not to go on.
func (r *run) look(ctx context.Context) error {
	if now := time.Now(); r.hooks.Progress != nil && now.Sub(r.shown) >= progressEvery {
		r.shown = now
		if err := r.flush(); err != nil {
			return err
		}
		r.hooks.Progress(r.sim.Now())
	}
	if r.looks++; r.hooks.Check != nil && r.looks%looksPerCheck == 0 {
		if err := r.flush(); err != nil {
			return err
		}
		if err := r.hooks.Check(); err != nil {
			return err
		}
	}
	if r.sim.tapErr != nil {
		return fmt.Errorf("capture at %v: %w", r.sim.Now(), r.sim.tapErr)
	}
	return ctx.Err()
}

// flush writes what the logs have so far, for who reads them while the run goes on.
func (r *run) flush() error {
	for _, h := range r.sim.hosts {
		if err := h.log.Flush(); err != nil {
			return fmt.Errorf("log of %s: %w", r.sim.fabric.HostName(h.id), err)
		}
	}
	if err := r.queues.Flush(); err != nil {
		return fmt.Errorf("queue log: %w", err)
	}
	return nil
}

// finish ends the hosts' logs.
func (r *run) finish() (err error) {
	for _, h := range r.sim.hosts {
		now := max(h.now, r.sim.Now())
		if e := h.core.Finish(now); e != nil {
			err = errors.Join(err, fmt.Errorf("log of %s: %w", r.sim.fabric.HostName(h.id), e))
		}
	}
	r.finished = err == nil
	return err
}
