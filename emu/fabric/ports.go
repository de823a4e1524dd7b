//go:build linux

package fabric

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// choose fills in the configuration and decides what marks and what delays.
func (f *Fabric) choose() error {
	c := &f.config
	if c.Dilation == 0 {
		c.Dilation = 1
	}
	if c.Dilation < 0 || c.BurstTime < 0 {
		return fmt.Errorf("fabric: dilation %d and burst time %v: want neither negative", c.Dilation, c.BurstTime)
	}
	if c.HashSeed == 0 {
		c.HashSeed = 1
	}
	f.levels = emu.PrioBands
	if Probe(FeaturePrio).Err != nil {
		f.levels = emu.HTBClasses
	}
	if err := f.chooseMarker(); err != nil {
		return err
	}
	if err := f.chooseWires(); err != nil {
		return err
	}
	return f.checkPart()
}

func (f *Fabric) chooseMarker() error {
	f.marker = emu.NoMarker
	marks := false
	for p := range f.topology.Ports {
		marks = marks || f.step(topo.PortID(p)) > 0
	}
	if !marks {
		return nil
	}
	wanted := f.config.Marker
	red, ebpf := Probe(FeatureRED), Probe(FeatureMarker)
	if red.Err == nil && f.config.Network.Priorities > 1 {
		red = Probe(FeaturePrio) // without it RED sees each level alone
	}
	switch {
	case wanted != emu.AnyMarker && wanted != emu.RED && wanted != emu.EBPF:
		return fmt.Errorf("fabric: there is no marker %q here: want red, ebpf or none at all", wanted)
	case wanted != emu.EBPF && red.Err == nil:
		f.marker = emu.RED
	case wanted == emu.RED:
		return fmt.Errorf("fabric: %w", red.Err)
	case ebpf.Err == nil:
		f.marker = emu.EBPF
	case wanted == emu.EBPF:
		return fmt.Errorf("fabric: %w", ebpf.Err)
	default:
		return fmt.Errorf("%w: the protocol has ports of this fabric mark packets, and nothing here can\n  %w\n  %w",
			emu.ErrNoMarker, red.Err, ebpf.Err)
	}
	return nil
}

func (f *Fabric) chooseWires() error {
	var missing error
	for _, name := range []string{FeatureNetem, FeatureIFB, FeatureRedirect} {
		missing = errors.Join(missing, Probe(name).Err)
	}
	f.wires = f.config.Wires
	switch {
	case f.wires == emu.AnyWires && missing != nil:
		f.wires = emu.HostDelay
	case f.wires == emu.AnyWires:
		f.wires = emu.Netem
	case f.wires == emu.Netem && missing != nil:
		return fmt.Errorf("fabric: wires in the kernel: %w", missing)
	}
	return nil
}

// step is where a port begins to mark: 0 for never.
func (f *Fabric) step(id topo.PortID) units.Bytes {
	return f.config.Network.MarkStep(f.topology, &f.topology.Ports[id])
}

// kernelRate is a port's rate by the kernel's clock, rounded.
func (f *Fabric) kernelRate(id topo.PortID) units.BitsPerSecond {
	return f.config.Dilation.Rate(f.topology.Ports[id].Rate)
}

// RateErrors returns by how much a port is faster than its link, as a share of the
// rate, since the kernel rounds: for full packets, and for the smallest.
func (f *Fabric) RateErrors(id topo.PortID) (full, smallest float64) {
	c := f.PortConfig(id)
	exact := float64(f.topology.Ports[id].Rate) / float64(f.config.Dilation)
	return c.RateError(exact, f.topology.FullFrame()), c.RateError(exact, topo.MinWire)
}

// PortConfig returns how a port is built. Its rate is by the kernel's clock.
func (f *Fabric) PortConfig(id topo.PortID) port.Config {
	n := &f.config.Network
	rate := f.kernelRate(id)
	c := port.Config{
		Rate:       rate,
		Priorities: n.Priorities,
		Levels:     f.levels,
		Limit:      f.config.QueueLimit,
		Mark:       f.step(id),
		Burst:      rate.BytesIn(units.Time(f.config.BurstTime)),
		MTU:        f.topology.Spec.MTU,
	}
	if f.marker == emu.EBPF {
		c.Marker = emu.EBPF
	}
	if n.CreditClass {
		c.Credit = port.Credit{Share: n.CreditShare, Packets: n.CreditQueue}
	}
	return c
}

// addPorts builds a node's ports and wires, and brings its interfaces up.
func (f *Fabric) addPorts(b *rtnl.Batch, id topo.NodeID) error {
	if err := f.dropOffloads(id); err != nil {
		return err
	}
	b.LinkUp(rtnl.Loopback, "lo")
	for _, p := range f.topology.Nodes[id].Ports {
		device := f.topology.Ports[p].Iface
		if err := f.PortConfig(p).Install(b, f.index(p), device); err != nil {
			return fmt.Errorf("%s: %w", device, err)
		}
		if f.markers != nil && f.step(p) > 0 {
			if err := f.markers.Install(b, f.index(p), device, f.PortConfig(p)); err != nil {
				return err
			}
		}
		if f.wires == emu.Netem && !f.IsDevice(f.topology.Ports[p].Peer) { // whose cable is a wire
			f.addWire(b, p)
		}
		b.LinkUp(f.index(p), device)
	}
	return nil
}

// addWire builds the wire that ends at a port's interface.
func (f *Fabric) addWire(b *rtnl.Batch, id topo.PortID) {
	p := &f.topology.Ports[id]
	ifb := f.wireIndex(id)
	b.Request("add link ifb", p.Iface, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Link(ifb, 0, 0))
	b.String(unix.IFLA_IFNAME, "wire-"+p.Iface)
	b.Uint32(unix.IFLA_MTU, uint32(f.topology.Spec.MTU))
	b.Uint32(unix.IFLA_NUM_TX_QUEUES, 1)
	b.Uint32(unix.IFLA_NUM_RX_QUEUES, 1)
	b.Nest(unix.IFLA_LINKINFO, nil, func() { b.String(unix.IFLA_INFO_KIND, "ifb") })
	from := &f.topology.Ports[p.Reverse]
	w := port.Wire{
		Rate:  f.kernelRate(p.Reverse),
		Delay: time.Duration(f.config.Dilation.ToKernel(from.Delay)) - f.crossingDelay(from),
	}
	w.Install(b, f.index(id), p.Iface, ifb)
	b.LinkUp(ifb, "wire-"+p.Iface)
}
