//go:build linux

// Package real is the engine that runs on a kernel: a fabric of namespaces, veth
// pairs and traffic control, and a process for each host, by the kernel's clock
// stretched by the dilation. The kernel is this machine's, or whatever its
// Platform says.
//
// A run goes through four steps, one file each:
//
//	bring up   the fabric, and a process for each host, which waits for "go"
//	measure    captures and the queue sampler start, hosts go, until all are done
//	drain      hosts send nothing more, and what is under way arrives
//	collect    the totals of ports, links and hosts become the run's Facts
//
// Whatever fails on the way, what there is goes through the steps behind it.
package real

import (
	"context"
	"errors"
	"runtime"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/thread"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/endpoint/join"
	"sirdbed/topo"
)

// Engine is the real engine. It needs what fabric.Build needs.
type Engine struct {
	// NodeCommand starts a host process: it must end up in node.Main with the
	// control pipe as standard input and the record log as descriptor 3.
	NodeCommand []string
	// Platform is what the run stands on; its zero value is this machine.
	Platform Platform
	// Running, when set, is called with the processes that are hosts once they run, so
	// that others can enter them. It is called again with nil at the end.
	Running func([]RunningHost)
	// Built, when set, is called before Running with the fabric, which is up until
	// Running is called with nil, and stays the engine's.
	Built func(*fabric.Fabric)
	// KeepUp, when set, is called after an experiment that came to its end, and
	// the fabric stays up until it returns. What happens there is in no
	// measurement.
	KeepUp func(context.Context)
	// Devices, when set, is where hosts that are devices are taken from. Unless it is
	// set, an experiment that has such hosts is refused.
	Devices *device.Machine
	// Gate, when set, is where peers of devices join. Unless it is set, an experiment that
	// has hosts that join is refused.
	Gate *join.Gate
}

// A RunningHost is a host process of a fabric that is up.
type RunningHost struct {
	Name string
	PID  int // as seen by the engine
}

var _ emu.Engine = &Engine{}

// Name implements emu.Engine.
func (e *Engine) Name() emu.EngineName { return e.Platform.name() }

// Run implements emu.Engine.
func (e *Engine) Run(ctx context.Context, x *emu.Experiment, dir emu.RunDir, hooks emu.Hooks) (*emu.Facts, error) {
	r := &run{engine: e, x: x, dir: dir, hooks: hooks}
	r.facts = &emu.Facts{Engine: e.Name(), Started: time.Now(), CPUs: runtime.NumCPU(), Kernel: KernelRelease()}
	if e.Platform.Part == nil { // else whoever started the kernels has
		if err := r.dir.Begin(x); err != nil {
			return r.facts, err
		}
	}
	err := r.run(ctx)
	r.facts.Wall = (time.Since(r.facts.Started) - r.keptUp).Seconds()
	if err != nil {
		r.facts.Failure = err.Error()
	}
	if e := r.dir.WriteJSON(PartFile(e.Platform.Part, emu.FactsFile), r.facts); err == nil {
		err = e
	}
	return r.facts, err
}

// A run is one experiment on its way.
type run struct {
	engine *Engine
	x      *emu.Experiment
	dir    emu.RunDir
	hooks  emu.Hooks
	facts  *emu.Facts

	// Brought up.
	means     Means
	machine   Machine
	burstTime time.Duration // of ports
	topology  *topo.Fabric
	loop      topo.Loop // as hosts found it, zero if they did not look
	fabric    *fabric.Fabric
	launcher  *thread.Thread // starts the hosts, which end with it
	hosts     []*hostProcess
	before    machineCounters
	devices   map[topo.HostID]fabric.HostDevice // hosts that are devices
	peers     map[topo.HostID]*join.Peer        // of these, those that have joined
	cables    map[topo.HostID]device.Carrier    // of devices, before the run

	// While it is measured.
	clock   *clock.Clock // nil before that
	going   bool         // hosts were let go: they have something to report
	taps    *tapping
	sampler *sampler
	apps    *apps

	timeline *timeline // nil unless faults change the fabric

	sentInTime []port.Stats  // of ports at the run's end, nil before
	keptUp     time.Duration // how long the fabric was kept up afterwards
}

// run takes the experiment through its steps.
func (r *run) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.takeDown()) }()
	err = r.bringUp(ctx)
	if r.fabric == nil {
		return err
	}
	if err == nil {
		err = r.lookAtCables()
	}
	if err == nil {
		awake := r.means.keepAwake()
		err = r.measure(ctx)
		awake.let()
	}
	r.apps.end()
	err = errors.Join(err, r.drain())
	err = errors.Join(err, r.collectFabric(), r.collectCables(), r.countKernelPackets())
	if err == nil {
		r.keepUp(ctx)
	}
	return errors.Join(err, r.collectHosts())
}

// keepUp leaves the fabric to others for as long as they want.
func (r *run) keepUp(ctx context.Context) {
	if r.engine.KeepUp == nil {
		return
	}
	since := time.Now()
	r.engine.KeepUp(ctx)
	r.keptUp = time.Since(since)
}

// takeDown gives back what bringUp made.
func (r *run) takeDown() error {
	if r.fabric == nil {
		return r.releaseDevices()
	}
	r.announce(nil)
	r.launcher.Close()
	err := r.releaseDevices()
	r.fabric.Close()
	return err
}
