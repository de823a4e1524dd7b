//go:build linux

package real

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
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
	return !r.exact() && !emu.KernelTCP(r.x) && len(r.hosts) > 1 &&
		(r.realTime() || all.AsksToMeasure(r.x.Params))
}

// measureLoops has the hosts measure their credit loops, and lets the topology know.
func (r *run) measureLoops(ctx context.Context) error {
	start := clock.Monotonic() + loopsLead.Nanoseconds()
	hosts := len(r.hosts) // devices have no process
	every := time.Duration(r.clockSpan(r.topology.LeastPacketTime()))
	every = time.Duration(hosts) * max(every, packetCost)
	for i, p := range r.hosts {
		text, err := json.Marshal(node.Calibration{
			Config: r.nodeConfig(p.host), Peer: r.hosts[(i+1)%hosts].host,
			Every: every.Nanoseconds(),
			// Hosts do not ask in step.
			Start: start + every.Nanoseconds()*int64(i)/int64(hosts),
			End:   start + loopsTime.Nanoseconds(),
		})
		if err != nil {
			return err
		}
		if err := p.send(node.CommandCalibrate + " " + string(text)); err != nil {
			return fmt.Errorf("%w: %w", p.death(), err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, loopsGrace)
	defer cancel()
	var loops clock.Lateness
	for _, p := range r.hosts {
		s, err := p.await(ctx, node.StateCalibrated)
		if err != nil {
			return fmt.Errorf("measuring the credit loop at %s: %w", p.name, err)
		}
		loops.Merge(s.Loops)
	}
	if loops.Count() == 0 {
		return fmt.Errorf("measuring the credit loop: no packet came back in %v", loopsTime)
	}
	r.idle = make([]port.Stats, len(r.topology.Ports))
	if err := r.fabric.PortStats(r.idle); err != nil {
		return err
	}
	loop := topo.Loop{Usual: units.Time(loops.Quantile(0.9)), Tail: units.Time(loops.Quantile(0.999))}
	computed := r.topology
	r.topology = computed.WithLoop(loop)
	r.facts.Loop = &emu.LoopFacts{
		Computed: computed.LongestLoop(), Usual: loop.Usual, Tail: loop.Tail,
		ComputedBDP: computed.BDP(), MeasuredBDP: r.topology.Measured().BDP(),
	}
	return nil
}

// clockSpan is a nominal span by the kernel's clock, in ns.
func (r *run) clockSpan(t units.Time) int64 { return r.facts.Dilation.ToKernel(t) }
