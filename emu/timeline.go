package emu

import (
	"fmt"
	"slices"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
)

// CheckTimeline returns what keeps an engine with a kernel from having the faults of an
// experiment's timeline happen; nil for none. wires reports whether the kernel delays
// packets on links.
func CheckTimeline(x *Experiment, f *topo.Fabric, engine EngineName, wires bool) error {
	for i := range x.Timeline {
		if reason := unable(x, f, &x.Timeline[i], wires); reason != "" {
			return Unsuited(fmt.Sprintf("engine %s, %v: %s", engine, &x.Timeline[i], reason), nil)
		}
	}
	return nil
}

// unable is why a kernel engine cannot have an event happen, "" if it can.
func unable(x *Experiment, f *topo.Fabric, e *fault.Event, wires bool) string {
	core := slices.ContainsFunc(e.Ports(f), func(p topo.PortID) bool { return f.Ports[p].Core })
	host := e.Host
	for _, p := range e.Ports(f) {
		if n := min(f.Ports[p].Node, f.Ports[p].Peer); !core {
			host = f.Nodes[n].Name
		}
	}
	device := false
	if host != "" {
		_, device = x.Device(host)
	}
	switch outage := e.Do == fault.Kill || e.Do == fault.Pause; {
	case device:
		return "it is a device, and sirdbed runs nothing behind it that could do so"
	case outage && x.Serves():
		return "hosts with programs are neither killed nor paused: their sockets would outlive them"
	case KernelTCP(x) && e.Do != fault.Rate && !core:
		return "hosts do it where packets pass through their raw sockets, and those of kernel TCP do not"
	case !core, e.Do == fault.Rate:
		return ""
	case e.Do != fault.Blackhole && e.Do != fault.Delay:
		return "between switches the kernel can cut links (blackhole), and change rates and delays: " +
			"use --engine model, or a host's link"
	case !wires:
		return "between switches it takes links that the kernel delays (netem), and this kernel has none: " +
			"use --engine virtual or model, or a host's link"
	}
	return ""
}
