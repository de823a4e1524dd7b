//go:build linux

package real

import (
	"cmp"
	"fmt"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Where links cannot delay packets, receiving hosts do, but not those of their kernels:
// of kernel TCP and of programs.

// resolvedDelay is about what the machine resolves: below it the delay of a link is lost
// among the delays of processes and interrupts.
const resolvedDelay = emu.LeastResolvedDelay

// checkWires reports whether links can delay the packets of a protocol of the
// kernel, or need not.
func checkWires(f *topo.Fabric, x *emu.Experiment) error {
	if !emu.KernelTCP(x) || x.Dilation == 1 && mayLackDelays(f, 1) {
		return nil
	}
	missing := netemMissing()
	if missing == nil {
		return nil
	}
	way := "use --engine virtual"
	if mayLackDelays(f, 1) {
		way += ", or --dilation 1, at which delays are shorter than this machine resolves"
	}
	return emu.Unsuited(fmt.Sprintf("%s takes links that delay packets, since a host cannot delay those of its "+
		"kernel: %v; %s", x.Protocol, missing, way), missing)
}

// netemMissing is what keeps the kernel from delaying packets on links.
func netemMissing() error {
	var errs []error
	for _, name := range []string{fabric.FeatureNetem, fabric.FeatureIFB, fabric.FeatureRedirect} {
		errs = append(errs, fabric.Probe(name).Err)
	}
	return cmp.Or(errs...)
}

// mayLackDelays reports whether links need not delay packets at a dilation: by the
// kernel's own clock, with delays that the machine does not resolve anyway.
func mayLackDelays(f *topo.Fabric, dilation units.Dilation) bool {
	return dilation == 1 && netemMissing() != nil && longestDelay(f, dilation) < resolvedDelay
}

// longestDelay is that of any link, by the kernel's clock.
func longestDelay(f *topo.Fabric, dilation units.Dilation) (most time.Duration) {
	for i := range f.Ports {
		most = max(most, time.Duration(dilation.ToKernel(f.Ports[i].Delay)))
	}
	return most
}

// undelayed is the longest delay that the packets of programs and of kernel TCP lack.
func (r *run) undelayed() emu.KernelTime {
	if r.fabric.Wires() != emu.HostDelay || !emu.KernelTCP(r.x) && len(r.x.Apps) == 0 {
		return 0
	}
	return emu.KernelTime(longestDelay(r.topology, r.facts.Dilation))
}
