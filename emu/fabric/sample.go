//go:build linux

package fabric

import (
	"fmt"

	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
)

// Sample reads the queues of all switch ports, with one dump for each switch.
// stats is indexed by topo.PortID and must be as long as Topology().Ports; the
// entries of hosts' own ports are left alone, and those that another kernel has. Each entry's At is when its switch
// was read. Marks by eBPF are not read: see PortStats. It allocates nothing to
// speak of, so that it can be called as often as the machine takes it.
func (f *Fabric) Sample(stats []port.Stats) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.read(stats, len(f.topology.Hosts))
}

// PortStats reads all ports, hosts' own among them, and what the markers have
// counted. stats is as for Sample.
func (f *Fabric) PortStats(stats []port.Stats) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if err := f.read(stats, 0); err != nil || f.markers == nil {
		return err
	}
	for i := range f.topology.Ports {
		id := topo.PortID(i)
		if f.step(id) == 0 {
			continue
		}
		m, err := f.markers.Read(f.index(id))
		if err != nil {
			return f.nodeError(f.topology.Ports[i].Node, err)
		}
		stats[i].Marked = m.Marked
	}
	return nil
}

// read dumps the namespaces of the nodes from the given one on: hosts come
// first.
func (f *Fabric) read(stats []port.Stats, from int) error {
	if f.closed {
		return ErrClosed
	}
	if len(stats) != len(f.topology.Ports) {
		return fmt.Errorf("fabric: sample into %d entries: there are %d ports", len(stats), len(f.topology.Ports))
	}
	for id := range f.own() {
		if int(id) < from {
			continue
		}
		if err := port.Read(f.namespaces[id].conn, stats, firstIndex, clock.Monotonic()); err != nil {
			return f.nodeError(id, err)
		}
	}
	return nil
}
