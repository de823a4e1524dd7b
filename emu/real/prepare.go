//go:build linux

package real

import (
	"errors"
	"fmt"
	"runtime"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/rlimit"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// Check implements emu.Engine: it tries what the experiment needs of this
// machine's kernel.
func (e *Engine) Check(x *emu.Experiment) error {
	run := &run{x: x}
	network, err := run.resolve()
	if err != nil {
		return err
	}
	wires := e.Platform.Wires != emu.HostDelay && netemMissing() == nil
	err = errors.Join(emu.CheckKernelTCP(x), emu.CheckDilation(x), emu.CheckTimeline(x, run.topology, e.Name(), wires),
		checkWires(run.topology, x))
	if err != nil {
		return err
	}
	if err := e.checkPart(x); err != nil {
		return err
	}
	if err := limits(run.topology, x); err != nil {
		return err
	}
	features := []string{fabric.FeatureNetNS, fabric.FeatureRaw, fabric.FeatureRings, fabric.FeatureVeth,
		fabric.FeatureHTB, fabric.FeatureFIFO}
	if network.Priorities > 1 || network.CreditClass {
		features = append(features, fabric.FeatureU32)
	}
	if run.topology.Spec.Spines > 1 {
		features = append(features, fabric.FeatureMultipath)
	}
	for _, name := range features {
		if f := fabric.Probe(name); f.Err != nil {
			return fmt.Errorf("%w\n%s: %s", f.Err, f.Name, f.Remedy)
		}
	}
	return errors.Join(fabric.Check(run.topology, fabric.Config{Network: network}), e.checkDevices(x))
}

// CheckLimits reports whether a process may have what an experiment takes: the part of
// Check that can be asked outside a sandbox.
func CheckLimits(x *emu.Experiment) error {
	topology, err := topo.New(x.Topology)
	if err != nil {
		return err
	}
	return limits(topology, x)
}

func limits(f *topo.Fabric, x *emu.Experiment) error {
	return errors.Join(rlimit.Descriptors(descriptors(f, x)), rlimit.AddressSpace(0), rlimit.Processes(processes(f)))
}

// processes is about how many processes and threads a run takes: those of the
// supervisor and controller, which Go makes for its processors too, and of each host.
func processes(f *topo.Fabric) int { return 24 + runtime.GOMAXPROCS(0) + 4*len(f.Hosts) }

// descriptors is how many files the controller has open, at most: of each host its
// namespace, pipes and process, of each switch what reads its ports, and taps.
func descriptors(f *topo.Fabric, x *emu.Experiment) int {
	const base, host, node, tap = 32, 6, 4, 2
	return base + host*len(f.Hosts) + node*(len(f.Nodes)-len(f.Hosts)) + tap*x.CapturedPorts(f)
}

// resolve works the experiment's topology out, and what its protocol asks of
// the network.
func (r *run) resolve() (network transport.Network, err error) {
	if r.topology, err = topo.New(r.x.Topology); err != nil {
		return network, err
	}
	r.topology = r.topology.WithLoop(r.loop)
	protocol, err := all.Find(r.x.Protocol)
	if err != nil {
		return network, err
	}
	params, err := all.DecodeParams(protocol, r.topology, r.x.Params)
	if err != nil {
		return network, err
	}
	if r.facts != nil {
		r.facts.Loop = r.loopFacts(protocol, params)
	}
	return protocol.Network(r.topology, params), nil
}

// plan chooses the dilation, and how the fabric is built.
func (r *run) plan() (c fabric.Config, err error) {
	network, err := r.resolve()
	if err != nil {
		return c, err
	}
	p := &r.engine.Platform
	if r.facts.Dilation = r.x.Dilation; r.facts.Dilation == 0 && (len(r.x.Apps) > 0 || len(r.x.Hosts) > 0) {
		r.facts.Dilation = 1
	}
	r.means = p.means(r.facts.Dilation == 1)
	r.facts.Scheduling = r.means.String()
	r.machine = p.machine(len(r.topology.Hosts), r.means)
	if r.facts.Dilation == 0 {
		r.facts.Dilation = r.machine.Dilation(r.topology, r.x)
	}
	r.burstTime = r.machine.BurstTime(r.topology, r.facts.Dilation)
	r.facts.GaugeEvery = r.gaugeInterval()
	r.facts.RealTime = r.realTimeFacts()
	c = fabric.Config{
		Dilation: r.facts.Dilation, Network: network, QueueLimit: r.x.QueueLimit,
		BurstTime: r.burstTime, HashSeed: uint32(r.x.Seed),
		Marker: p.Marker, Wires: p.Wires, Part: p.Part,
	}
	if emu.KernelTCP(r.x) && !mayLackDelays(r.topology, r.facts.Dilation) {
		c.Wires = emu.Netem // nobody else can delay its packets
	}
	return c, nil
}
