//go:build linux

package fabric

import (
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Link is what one direction of a link is like, in nominal units. Its zero value is as
// the topology says.
type Link struct {
	Rate  units.BitsPerSecond // 0: the topology's
	Extra units.Time          // propagation beyond the topology's; where wires delay
	Lose  bool                // every frame; where wires delay
}

// Change makes one direction of a link another: the port, and the wire behind it where the
// fabric has wires: as far as this kernel has them. Frames on their way stay in order. It is
// one system call for each.
func (f *Fabric) Change(id topo.PortID, l Link) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return ErrClosed
	}
	p := &f.topology.Ports[id]
	rate := p.Rate
	if l.Rate > 0 {
		rate = l.Rate
	}
	kernel := f.config.Dilation.Rate(rate)
	c := f.PortConfig(id)
	c.Rate, c.Burst = kernel, kernel.BytesIn(units.Time(f.config.BurstTime))
	var b rtnl.Batch
	if f.Has(p.Node) {
		if err := c.ChangeRate(&b, f.index(id), p.Iface); err != nil {
			return f.nodeError(p.Node, err)
		}
		if err := f.inNode(p.Node, &b); err != nil {
			return err
		}
	}
	if f.markers != nil && f.step(id) > 0 {
		if err := f.markers.ChangeRate(f.index(id), c); err != nil {
			return f.nodeError(p.Node, err)
		}
	}
	if f.wires != emu.Netem || f.IsDevice(p.Node) || !f.Has(p.Peer) {
		return nil
	}
	b.Reset()
	delay := time.Duration(f.config.Dilation.ToKernel(p.Delay+l.Extra)) - f.crossingDelay(p)
	w := port.Wire{Rate: kernel, Delay: delay, Lose: l.Lose}
	w.Change(&b, f.wireIndex(p.Reverse), "wire-"+f.topology.Ports[p.Reverse].Iface)
	return f.inNode(p.Peer, &b)
}

// inNode carries out a batch in a node's namespace.
func (f *Fabric) inNode(id topo.NodeID, b *rtnl.Batch) error {
	if err := f.namespaces[id].conn.Do(b); err != nil {
		return f.nodeError(id, err)
	}
	return nil
}

// Lower brings the interface of a switch's port to a host down: the host has no carrier,
// what waits in both ports is lost, and the switch forgets the host's routes and neighbors.
// It returns how many packets waited, and Raise undoes it.
//
// The routes go first: the kernel takes them only when the interface is down, which waits
// for all processors, and what is sent there meanwhile is in no count.
func (f *Fabric) Lower(id topo.PortID) (waiting int64, err error) {
	if err := f.forgetRoutes(id); err != nil {
		return 0, err
	}
	stats := make([]port.Stats, len(f.topology.Ports))
	if err := f.PortStats(stats); err != nil {
		return 0, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	p := &f.topology.Ports[id]
	_, waiting = stats[id].Backlog()
	_, host := stats[p.Reverse].Backlog()
	var b rtnl.Batch
	b.Request("bring down", p.Iface, unix.RTM_NEWLINK, 0, rtnl.Link(f.index(id), 0, unix.IFF_UP))
	return waiting + host, f.inNode(p.Node, &b)
}

// forgetRoutes removes a switch's routes that lead over one port alone.
func (f *Fabric) forgetRoutes(id topo.PortID) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return ErrClosed
	}
	p := &f.topology.Ports[id]
	var b rtnl.Batch
	for _, r := range f.topology.Routes(p.Node) {
		if len(r.Ports) == 1 && r.Ports[0] == id {
			b.Request("remove route "+r.Prefix.String(), p.Iface, unix.RTM_DELROUTE, 0,
				rtnl.Route(uint8(r.Prefix.Bits), 0))
			b.Attr(unix.RTA_DST, r.Prefix.Addr[:])
		}
	}
	return f.inNode(p.Node, &b)
}

// Raise brings an interface up that Lower has brought down. Its qdiscs are there still;
// the kernel has forgotten routes and neighbors. Both ends are asked for their carrier: the
// host's sends again when the kernel has seen that there is one.
func (f *Fabric) Raise(id topo.PortID) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return ErrClosed
	}
	p := &f.topology.Ports[id]
	var b rtnl.Batch
	b.LinkUp(f.index(id), p.Iface)
	f.addNeighbor(&b, p)
	for _, r := range f.topology.Routes(p.Node) {
		if len(r.Ports) == 1 && r.Ports[0] == id {
			f.addRoute(&b, r)
		}
	}
	if err := f.inNode(p.Node, &b); err != nil || !f.Has(p.Peer) || f.IsDevice(p.Peer) {
		return err
	}
	return f.askCarrier([]*topo.Port{p, &f.topology.Ports[p.Reverse]})
}

// WireDrops returns how many packets wires have lost, by the port that they lead from.
func (f *Fabric) WireDrops() ([]int64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, ErrClosed
	}
	ends := make([]int64, len(f.topology.Ports)) // by the port that they lead to
	for id := range f.own() {
		if err := port.ReadWireDrops(f.namespaces[id].conn, ends, f.wireIndex(0)); err != nil {
			return nil, f.nodeError(id, err)
		}
	}
	drops := make([]int64, len(ends))
	for i := range ends {
		drops[f.topology.Ports[i].Reverse] = ends[i]
	}
	return drops, nil
}

// Unrouted returns how many packets a switch has had no route for.
func (f *Fabric) Unrouted(id topo.NodeID) (n int64, err error) {
	err = f.Do(id, func() error {
		found, err := counters("netstat", "IpExt")
		n = found["InNoRoutes"]
		return err
	})
	return n, err
}
