//go:build linux

package fabric

import (
	"fmt"
	"iter"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Part is what one kernel has of a fabric that several kernels have together: some of
// the nodes, and its ends of the links to the others.
type Part struct {
	// Guests has the number of each node's kernel, from 0, by topo.NodeID. A host and its leaf
	// have the same.
	Guests []int
	// Self is the number of this one.
	Self int
	// Crossing is how long a frame takes from one kernel to another, by their clock: a part
	// of the delay of every link between them.
	Crossing time.Duration
}

// Has reports whether this kernel has a node; it has all of a fabric that is in one piece.
func (f *Fabric) Has(id topo.NodeID) bool {
	p := f.config.Part
	return p == nil || p.Guests[id] == p.Self
}

// crosses reports whether a port is the end of a link to another kernel.
func (f *Fabric) crosses(p *topo.Port) bool { return f.Has(p.Node) && !f.Has(p.Peer) }

// own are the nodes that this kernel has.
func (f *Fabric) own() iter.Seq[topo.NodeID] {
	return func(yield func(topo.NodeID) bool) {
		for i := range f.namespaces {
			if f.Has(topo.NodeID(i)) && !yield(topo.NodeID(i)) {
				return
			}
		}
	}
}

// crossingDelay is what a frame has of a port's delay before it gets to the wire at the
// other end.
func (f *Fabric) crossingDelay(p *topo.Port) time.Duration {
	if part := f.config.Part; part != nil && part.Guests[p.Node] != part.Guests[p.Peer] {
		return part.Crossing
	}
	return 0
}

// Behind is how much later than others the own end of a port's link meets what happens to
// the link: a frame from another kernel meets it when it has crossed, and met the sender's
// as it began to leave.
func (f *Fabric) Behind(id topo.PortID) units.Time {
	p := &f.topology.Ports[id]
	if f.Has(p.Node) {
		return 0
	}
	return f.config.Dilation.ToNominal(f.crossingDelay(p).Nanoseconds())
}

// checkPart returns what keeps a fabric from being built in parts.
func (f *Fabric) checkPart() error {
	part := f.config.Part
	if part == nil {
		return nil
	}
	if len(part.Guests) != len(f.topology.Nodes) {
		return fmt.Errorf("fabric: a part of %d nodes: there are %d", len(part.Guests), len(f.topology.Nodes))
	}
	for i := range f.topology.Ports {
		p := &f.topology.Ports[i]
		if part.Guests[p.Node] == part.Guests[p.Peer] {
			continue
		}
		if !p.Core {
			return fmt.Errorf("fabric: %s is between two parts: only links of spines can be", p.Name)
		}
		if delay := time.Duration(f.config.Dilation.ToKernel(p.Delay)); delay < part.Crossing || part.Crossing <= 0 {
			return fmt.Errorf("fabric: %s has a delay of %v, and takes %v to cross", p.Name, delay, part.Crossing)
		}
	}
	return nil
}

// The attributes of a device of the kind "crossing"
// (IFLA_CROSSING_ of arch/um/drivers/crossing.c, emu/virtual/kernel).
const (
	crossingGuest = 1
	crossingPort  = 2
	crossingPeer  = 3
)

// AddCrossing adds the rest of a request for a link: that it is an end of one to another
// kernel. Ports are numbered over all kernels.
func AddCrossing(b *rtnl.Batch, guest, port, peer int) {
	b.Nest(unix.IFLA_LINKINFO, nil, func() {
		b.String(unix.IFLA_INFO_KIND, "crossing")
		b.Nest(unix.IFLA_INFO_DATA, nil, func() {
			b.Uint32(crossingGuest, uint32(guest))
			b.Uint32(crossingPort, uint32(port))
			b.Uint32(crossingPeer, uint32(peer))
		})
	})
}

// addCrossing adds the request for the own end of a link to another kernel.
func (f *Fabric) addCrossing(b *rtnl.Batch, p *topo.Port) {
	b.Request("add link crossing", p.Name, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Link(f.index(p.ID), 0, 0))
	f.linkAttrs(b, p)
	AddCrossing(b, f.config.Part.Guests[p.Peer], int(p.ID), int(p.Reverse))
}
