package results

import (
	"slices"

	"sirdbed/emu"
	"sirdbed/topo"
)

// Conservation is where all packets went.
type Conservation struct {
	Sent      int64 `json:"sent"`
	Received  int64 `json:"received"`
	Drops     int64 `json:"drops"`                 // by ports' queue limits
	Credits   int64 `json:"credit_drops"`          // by ports' credit classes
	Elsewhere int64 `json:"other_drops"`           // by rings, the kernel and interfaces
	Faults    int64 `json:"fault_drops,omitempty"` // by links that the timeline of faults cut, or had lose packets
	Missing   int64 `json:"missing"`               // sent, and not accounted for
	InFlight  int64 `json:"in_flight_max"`         // what may have been under way when the run ended
	Drained   int64 `json:"drained_max"`           // the same, with empty wires: as a drain leaves them

	// Kernel is the part of Sent and Received that the nodes' kernels have counted:
	// programs' packets, and kernel TCP's. The rest are the transport's, as hosts have
	// counted them. Ports do not tell the two apart. nil: there were no programs.
	Kernel *emu.KernelPackets `json:"kernel,omitempty"`
}

func (v *Variant) conservation() Conservation {
	var c Conservation
	if c.Kernel = v.Facts.KernelPackets; c.Kernel != nil {
		c.Sent, c.Received = c.Kernel.Sent, c.Kernel.Received
	}
	for _, h := range v.Facts.Hosts {
		if !h.Kernel || c.Kernel == nil { // else its segments are among the kernel's packets
			c.Sent += h.Sent
			c.Received += h.Received
		}
		c.Elsewhere += h.RingDrops
	}
	for _, p := range v.Facts.Ports {
		c.Drops += p.Drops
		c.Credits += p.CreditDrops
		c.Faults += p.Lost
		c.Sent += p.Extra
	}
	c.Elsewhere += v.Facts.SoftnetDrops + v.Facts.LinkDrops
	c.Missing = c.Sent - c.Received - c.Drops - c.Credits - c.Elsewhere - c.Faults
	c.InFlight, c.Drained = v.inFlight()
	return c
}

// inFlight bounds the packets that were under way when the run ended: those in
// the last samples of the queues, one in transmission at each port, and as
// many as a wire holds. drained is without wires: a run ends when they are empty, but
// where kernels go on to send, or a timeline of faults has made links longer.
func (v *Variant) inFlight() (n, drained int64) {
	wires := int64(0)
	for i := range v.Fabric.Ports {
		p := &v.Fabric.Ports[i]
		wires += int64(p.Rate.BytesIn(p.Delay) / topo.MinWire)
		n += 2
		if s := v.Queues.Ports[i]; len(s) > 0 {
			n += s[len(s)-1].Packets
		}
	}
	kernel := v.Facts.KernelPackets != nil ||
		slices.ContainsFunc(v.Facts.Hosts, func(h emu.HostFacts) bool { return h.Kernel })
	if kernel || len(v.Experiment.Timeline) > 0 {
		return n + wires, n + wires
	}
	return n + wires, n
}
