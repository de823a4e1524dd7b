//go:build linux

package real

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/thread"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo/units"
)

// A Standing is what a fabric without traffic is like.
type Standing struct {
	Dilation units.Dilation
	Features emu.Features
	Hosts    []RunningHost // processes of hosts, none where the kernel has the protocol
}

// Up builds the fabric of an experiment, which has no streams and says that it is to be
// kept up, calls up, and keeps it up until ctx ends or a host's process does. Hosts run
// their transport for programs (emu.Experiment.Serves), and nothing is measured. Hosts that
// are devices are opaque: no peer joins. Where the experiment states no dilation it is 1:
// programs live by the kernel's clock.
func (e *Engine) Up(ctx context.Context, x *emu.Experiment, up func(*fabric.Fabric, Standing) error) (err error) {
	own := *x
	own.Dilation = cmp.Or(x.Dilation, 1)
	own.GaugeEvery = 0
	r := &run{engine: e, x: &own, facts: &emu.Facts{}}
	config, err := r.settle(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.takeDown()) }()
	if config.Devices, err = r.takeDevices(); err != nil {
		return err
	}
	if r.fabric, err = fabric.Build(ctx, r.topology, config); err != nil {
		return err
	}
	lost := make(chan lostHost, len(r.topology.Hosts))
	r.launcher = thread.New()
	if own.Serves() {
		ended := make(chan struct{})
		defer close(ended)
		defer r.endHosts()
		if err := r.standUp(ctx, lost, ended); err != nil {
			return err
		}
	}
	is := Standing{Dilation: r.facts.Dilation, Features: r.fabric.Features(), Hosts: running(r.hosts)}
	if err := up(r.fabric, is); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case l := <-lost:
		return fmt.Errorf("the fabric goes down: %w", l.why)
	}
}

// standUp starts the hosts' processes and lets them go.
func (r *run) standUp(ctx context.Context, lost chan<- lostHost, ended <-chan struct{}) error {
	if err := r.startHosts(r.createLog); err != nil {
		return err
	}
	if err := r.configureHosts(ctx); err != nil {
		return err
	}
	lead := startLead + time.Duration(len(r.hosts))*startLeadHost
	origin := r.engine.Platform.align(clock.Monotonic() + lead.Nanoseconds())
	for _, p := range r.hosts {
		if err := p.begin(origin); err != nil {
			return errors.Join(p.death(), err)
		}
		go p.watch(make(chan int, 2), lost, ended)
	}
	return nil
}

// endHosts ends the hosts' processes, whose reports nobody reads.
func (r *run) endHosts() {
	for _, p := range r.hosts {
		_ = p.kill() // it may have ended
	}
	for _, p := range r.hosts {
		for range p.status { // until the process has ended
		}
	}
}
