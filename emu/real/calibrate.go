//go:build linux

package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/thread"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// How credit loops are measured: by all hosts at once, after a lead in which all learn
// of it, and together as often as full packets fill a link, or the machine carries
// packets.
const (
	loopsLead  = 30 * time.Millisecond
	loopsTime  = 200 * time.Millisecond
	loopsGrace = 5 * time.Second
)

// asksForLoops reports whether the run needs to know how long credit loops take here: for
// its time-outs in real time, or since the scenario asks.
func (r *run) asksForLoops() bool {
	return !r.exact() && !emu.KernelTCP(r.x) && len(r.processHosts()) > 1 &&
		(r.realTime() || all.AsksToMeasure(r.x.Params))
}

// settle plans the run, once credit loops are known where it needs to know them.
func (r *run) settle(ctx context.Context) (fabric.Config, error) {
	c, err := r.plan()
	if err != nil || !r.asksForLoops() {
		return c, err
	}
	if err := r.findLoops(ctx, c); err != nil {
		return c, err
	}
	if c, err = r.plan(); err != nil {
		return c, err
	}
	return c, r.checkRounds()
}

// findLoops measures credit loops, on a fabric of their own that goes again: what the
// run's ports are like may follow from them.
func (r *run) findLoops(ctx context.Context, c fabric.Config) (err error) {
	p := &run{engine: r.engine, x: r.x, facts: &emu.Facts{Dilation: r.facts.Dilation}, topology: r.topology,
		peers: r.peers, means: r.means, machine: r.machine, burstTime: r.burstTime}
	defer func() { err = errors.Join(err, p.takeDown()) }()
	if len(p.peers) > 0 {
		if c.Devices, err = p.takeDevices(); err != nil {
			return err
		}
	}
	if p.fabric, err = fabric.Build(ctx, p.topology, c); err != nil {
		return err
	}
	p.launcher = thread.New()
	defer func() {
		for _, h := range p.hosts {
			h.stop(h.joined.grace())
		}
	}()
	if err := p.startHosts(noLog); err != nil {
		return err
	}
	if err := p.compareClocks(); err != nil {
		return err
	}
	defer r.means.keepAwake().let()
	loops, err := p.measureLoops(ctx)
	if err != nil {
		return fmt.Errorf("measuring the credit loop: %w", err)
	}
	r.loop = topo.Loop{Usual: units.Time(loops.Quantile(0.9)), Tail: units.Time(loops.Quantile(0.999))}
	return nil
}

// noLog is a file for the log of a host that has nothing to log.
func noLog(string) (*os.File, error) {
	fd, err := unix.MemfdCreate("log", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "log"), nil
}

// measureLoops has the hosts measure their credit loops, in nominal ns.
func (r *run) measureLoops(ctx context.Context) (*clock.Lateness, error) {
	hosts := len(r.hosts)
	packet := time.Duration(r.facts.Dilation.ToKernel(r.topology.LeastPacketTime()))
	every := time.Duration(hosts) * max(packet, packetCost)
	for i, p := range r.hosts {
		text, err := json.Marshal(node.Calibration{
			Config: r.nodeConfig(p.host), Peer: r.hosts[(i+1)%hosts].host,
			Every: every.Nanoseconds(), For: loopsTime.Nanoseconds(),
			After: every.Nanoseconds() * int64(i) / int64(hosts), // hosts do not ask in step
		})
		if err != nil {
			return nil, err
		}
		if err := p.send(node.CommandCalibrate + " " + string(text)); err != nil {
			return nil, errors.Join(p.death(), err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, loopsGrace)
	defer cancel()
	if err := r.letGo(ctx); err != nil {
		return nil, err
	}
	loops := &clock.Lateness{}
	for _, p := range r.hosts {
		s, err := p.await(ctx, node.StateCalibrated)
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", p.name, err)
		}
		loops.Merge(s.Loops)
	}
	if loops.Count() == 0 {
		return nil, fmt.Errorf("no packet came back in %v", loopsTime)
	}
	return loops, nil
}

// letGo waits until all hosts are ready, and has them begin loopsLead later.
func (r *run) letGo(ctx context.Context) error {
	for _, p := range r.hosts {
		if _, err := p.await(ctx, node.StateReady); err != nil {
			return err
		}
	}
	start := clock.Monotonic() + loopsLead.Nanoseconds()
	for _, p := range r.hosts {
		if err := p.begin(start); err != nil {
			return errors.Join(p.death(), err)
		}
	}
	return nil
}

// loopFacts states the loop, nil where nobody looked. params are those of the protocol.
func (r *run) loopFacts(protocol transport.Protocol, params any) *emu.LoopFacts {
	if r.loop == (topo.Loop{}) {
		return nil
	}
	f := &emu.LoopFacts{
		Computed: r.topology.LongestLoop(), Usual: r.loop.Usual, Tail: r.loop.Tail,
		ComputedBDP: r.topology.BDP(), MeasuredBDP: r.topology.Measured().BDP(),
	}
	if protocol.Window != nil {
		f.Window = protocol.Window(params)
	}
	return f
}
