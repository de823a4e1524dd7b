package emu

import (
	"fmt"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// KernelTCP reports whether an experiment's protocol is one of the hosts'
// kernel, such as TCP, and not a transport.
func KernelTCP(x *Experiment) bool {
	p, err := all.Find(x.Protocol)
	return err == nil && p.CheckDriver != nil
}

// NoKernelTCP is the error of an engine without a kernel for an experiment whose
// protocol is one of the hosts' kernel, nil for others.
func NoKernelTCP(x *Experiment) error {
	if !KernelTCP(x) {
		return nil
	}
	return Unsuited(fmt.Sprintf("%s is the real TCP of a kernel, and the model has none: "+
		"use --engine virtual (or dctcp, which is a model of DCTCP)", x.Protocol), nil)
}

// CheckKernelTCP returns what keeps an engine with a kernel from running an
// experiment whose protocol is one of that kernel; nil for others.
func CheckKernelTCP(x *Experiment) error {
	if KernelTCP(x) && x.Faults.Enabled() {
		return Unsuited(fmt.Sprintf("%s cannot be given faults: hosts make them where packets pass through "+
			"their raw sockets, and those of kernel TCP do not", x.Protocol), nil)
	}
	return nil
}

// MaxKernelTCPDilation is the largest dilation at which the timers of kernel TCP
// are still taken for its own. The kernel's clock is not stretched: by nominal
// time its timers are shorter by the dilation, the least retransmission timeout
// 20 ms instead of 200 ms.
const MaxKernelTCPDilation units.Dilation = 10

// CheckDilation reports a dilation at which the kernel's timers would be too short, where
// it is they that count.
func CheckDilation(x *Experiment) error {
	if x.Dilation <= MaxKernelTCPDilation {
		return nil
	}
	who := x.Protocol
	switch {
	case KernelTCP(x):
	case len(x.Apps) > 0:
		who = "a scenario with programs (apps)"
	default:
		return nil
	}
	return fmt.Errorf("%s takes a dilation of 1 to %d, or auto, not %d: kernel TCP's timers run on the kernel's "+
		"clock, and would be %d times too short", who, MaxKernelTCPDilation, x.Dilation, x.Dilation)
}

// KernelTCPDilation is the least dilation, up to MaxKernelTCPDilation, at which a
// full packet lasts 1 us on the fastest link by the kernel's clock: ports and wires
// count in whole ns, which is then 0.1 % of it at most.
func KernelTCPDilation(f *topo.Fabric) units.Dilation {
	const enough = 1_000_000 // ps
	packet := int64(enough)
	for i := range f.Ports {
		packet = min(packet, f.Ports[i].Rate.Picoseconds(f.FullFrame()))
	}
	return min(units.Dilation((enough+packet-1)/max(1, packet)), MaxKernelTCPDilation)
}

// LeastResolvedDelay is about the shortest delay of a link that a machine resolves, by
// its own clock: shorter ones are lost among those of processes and interrupts.
const LeastResolvedDelay = 200 * time.Microsecond
