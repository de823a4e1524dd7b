package topo

import "sirdbed/topo/units"

// Hosts in different racks have a path over each spine. A protocol that sprays
// uses all of them at once, so where they differ, or are slower than the hosts'
// links, a message can be faster than over any one of them.

// Alike reports whether all paths from src to dst have the same rates and delays.
func (f *Fabric) Alike(src, dst HostID) bool {
	if len(f.Spec.Links) == 0 || f.onePath(src, dst) {
		return true
	}
	for _, leaf := range []NodeID{f.LeafOf(src), f.LeafOf(dst)} {
		links := f.Nodes[leaf].Ports[f.Spec.HostsPerLeaf:]
		for _, p := range links[1:] {
			a, b := &f.Ports[p], &f.Ports[links[0]]
			if a.Rate != b.Rate || a.Delay != b.Delay {
				return false
			}
		}
	}
	return true
}

// paths returns the paths from src to dst, by spine; within a rack the only one.
func (f *Fabric) paths(src, dst HostID) (paths [][]PortID) {
	if f.LeafOf(src) == f.LeafOf(dst) {
		return [][]PortID{f.Path(src, dst, 0)}
	}
	for s := 1; s <= f.Spec.Spines; s++ {
		paths = append(paths, f.Path(src, dst, s))
	}
	return paths
}

// onePath reports whether there is one path from src to dst.
func (f *Fabric) onePath(src, dst HostID) bool {
	return f.Spec.Spines <= 1 || f.LeafOf(src) == f.LeafOf(dst)
}

// fastestPath is the least of a latency over the paths from src to dst.
func (f *Fabric) fastestPath(src, dst HostID, latency func(path []PortID) units.Time) units.Time {
	if f.Alike(src, dst) {
		return latency(f.Path(src, dst, 0))
	}
	least := units.Never
	for _, path := range f.paths(src, dst) {
		least = min(least, latency(path))
	}
	return least
}

// FastestPaper is UnloadedPaper over all paths together: payload at what the
// sender's link, the receiver's, and all paths between them can carry, and the
// shortest propagation.
func (f *Fabric) FastestPaper(src, dst HostID, size units.Bytes) units.Time {
	if f.onePath(src, dst) {
		return f.UnloadedPaper(src, dst, size)
	}
	var core units.BitsPerSecond
	delay := units.Never
	for _, path := range f.paths(src, dst) {
		core += f.Bottleneck(path[1 : len(path)-1])
		delay = min(delay, f.Propagation(path))
	}
	return min(core, f.Uplink(src).Rate, f.Downlink(dst).Rate).TimeFor(size) + delay
}
