package emu

import (
	"context"
	"errors"
	"fmt"

	"sirdbed/sirdnode"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// Check finds out, before anything is built, whether this machine has what an
// experiment needs of it. What it lacks is an error that matches
// ErrNotSupported.
func (r *Real) Check(x *Experiment) error {
	run := &realRun{x: x}
	network, err := run.resolve()
	if err != nil {
		return err
	}
	if err := errors.Join(CheckKernelProtocol(x), checkWires(x)); err != nil {
		return err
	}
	features := []string{FeatureNetNS, FeatureRaw, FeatureRings, FeatureVeth, FeatureHTB, FeatureFIFO}
	if network.Priorities > 1 || network.CreditClass {
		features = append(features, FeatureU32)
	}
	if run.topology.Spec.Spines > 1 {
		features = append(features, FeatureMultipath)
	}
	for _, name := range features {
		if f := Probe(name); f.Err != nil {
			return fmt.Errorf("emu: %w\n%s: %s", f.Err, f.Name, f.Remedy)
		}
	}
	f := &Fabric{topology: run.topology, config: FabricConfig{Network: network}}
	return f.choose()
}

// resolve works the experiment's topology out, and what its protocol asks of
// the network.
func (r *realRun) resolve() (network transport.Network, err error) {
	if r.topology, err = topo.New(r.x.Topology); err != nil {
		return network, err
	}
	protocol, err := sirdnode.Protocol(r.x.Protocol)
	if err != nil {
		return network, err
	}
	params, err := sirdnode.DecodeParams(protocol, r.topology, r.x.Params)
	if err != nil {
		return network, err
	}
	return protocol.Network(r.topology, params), nil
}

// run runs the experiment on a fabric that it builds, and takes down again.
func (r *realRun) run(ctx context.Context) error {
	network, err := r.resolve()
	if err != nil {
		return err
	}
	var machine Machine
	if r.engine.Machine != nil {
		machine = *r.engine.Machine
	} else {
		machine = MeasureMachine()
	}
	if r.facts.Dilation = r.x.Dilation; r.facts.Dilation == 0 {
		r.facts.Dilation = machine.Dilation(r.topology, r.x)
	}
	cfg := FabricConfig{
		Dilation: r.facts.Dilation, Network: network, QueueLimit: r.x.QueueLimit,
		BurstTime: machine.BurstTime(r.topology, r.facts.Dilation), HashSeed: uint32(r.x.Seed),
		Marker: r.engine.Marker, Wires: r.engine.Wires,
	}
	if KernelProtocol(r.x) {
		cfg.Wires = "netem"
	}
	if r.fabric, err = Build(ctx, r.topology, cfg); err != nil {
		return err
	}
	defer r.fabric.Close()
	r.facts.Features = r.fabric.Features()
	r.launcher = newLauncher()
	defer r.launcher.close()
	return r.measure(ctx)
}
