package topo

import (
	"math"

	"sirdbed/topo/units"
)

// Hosts in different racks have a path over each spine. A protocol that sprays
// uses all of them at once, so where they differ, or are slower than the hosts'
// links, a message can be faster than over any one of them.

// Alike reports whether all paths from src to dst have the same rates and delays.
func (f *Fabric) Alike(src, dst HostID) bool {
	if len(f.Spec.Links) == 0 {
		return true
	}
	paths := f.paths(src, dst)
	for _, path := range paths[1:] {
		for i, p := range path {
			a, b := &f.Ports[p], &f.Ports[paths[0][i]]
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

// oneSuffices reports whether one path from src to dst is as fast as all together.
// It may be where this is not reported.
func (f *Fabric) oneSuffices(src, dst HostID) bool {
	return f.Spec.Spines <= 1 || f.LeafOf(src) == f.LeafOf(dst) ||
		len(f.Spec.Links) == 0 && f.Spec.CoreRate >= f.Spec.HostRate
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
	if f.oneSuffices(src, dst) {
		return f.UnloadedPaper(src, dst, size)
	}
	paths := f.paths(src, dst)
	var core units.BitsPerSecond
	delay := units.Never
	for _, path := range paths {
		core += f.Bottleneck(path[1 : len(path)-1])
		delay = min(delay, f.Propagation(path))
	}
	return min(core, f.Uplink(src).Rate, f.Downlink(dst).Rate).TimeFor(size) + delay
}

// FastestExact is UnloadedExact over all paths together: no way to spread a
// message's packets over them, in whatever order, is faster over an idle fabric.
// The last packet, if it is shorter than the others, has to come last: one that
// overtakes them can be faster by less than its own time on the receiver's link.
//
// Of n full packets each takes up on the sender's link and down on the receiver's.
// All paths together, which take a full packet each time that their slowest hop
// needs for one, have carried no more than j-1 of them over the core by g(j) after
// they began. So for each j:
//
//   - The first begins after up. n+1-j are over the core at up + g(j) or later, and
//     then need the receiver's link one after the other: up + g(j) + (n+1-j)*down.
//   - The same seen from the end, where n+1-j have to leave the sender's link g(j) or
//     more before the last is over the core: (n+1-j)*up + g(j) + down.
//   - A shorter packet comes after all of this on the receiver's link, and leaves the
//     sender's after all others.
//
// The largest of these is the latency. Where all paths are alike and no slower than
// the hosts' links, that is UnloadedExact.
func (f *Fabric) FastestExact(src, dst HostID, size units.Bytes, fr Framing) units.Time {
	if f.oneSuffices(src, dst) {
		return f.UnloadedExact(src, dst, size, fr)
	}
	up, down := f.Uplink(src), f.Downlink(dst)
	paths := f.paths(src, dst)
	full, last := fr.split(size)
	lanes := make([]lane, len(paths))
	alone := int64(math.MaxInt64) // the last packet's way over the core, in ps
	for i, path := range paths {
		core := path[1 : len(path)-1]
		lanes[i] = f.lane(core, fr.Wire(fr.MSS))
		alone = min(alone, f.lane(core, fr.Wire(last)).next)
	}
	first, end := up.Rate.Picoseconds(fr.Wire(fr.MSS)), down.Rate.Picoseconds(fr.Wire(fr.MSS))
	var latest int64
	for j := int64(1); j <= full; j++ {
		if j == looked && full > 2*looked {
			j = full - looked
			skip(lanes, j-looked)
		}
		g := take(lanes)
		latest = max(latest, first*(full+1-j)+g+end, first+g+end*(full+1-j))
	}
	if last > 0 {
		tail := down.Rate.Picoseconds(fr.Wire(last))
		latest = max(latest, first*full+up.Rate.Picoseconds(fr.Wire(last))+alone) + tail
	}
	return up.Delay + down.Delay + units.Time((latest+500)/1000)
}

// looked is how many j of FastestExact are looked at from the first on, and as many up
// to the last: in between the bounds rise or fall all the way, but for what paths of
// differing rates make of the order of packets. Fewer bounds are a bound too.
const looked = 4096

// A lane is a path over the core as a server of full packets, in ps.
type lane struct {
	next  int64 // that the next packet takes from leaf to leaf
	every int64 // by which each further packet takes longer
}

func (f *Fabric) lane(core []PortID, wire units.Bytes) (l lane) {
	for _, p := range core {
		tx := f.Ports[p].Rate.Picoseconds(wire)
		l.next += tx + int64(f.Ports[p].Delay)*1000
		l.every = max(l.every, tx)
	}
	return l
}

// take gives one more packet to the lane that is the first to be done with it, and
// returns when that is.
func take(lanes []lane) int64 {
	best := &lanes[0]
	for i := range lanes {
		if lanes[i].next < best.next {
			best = &lanes[i]
		}
	}
	done := best.next
	best.next += best.every
	return done
}

// skip gives n more packets to lanes, as take does with each of them.
func skip(lanes []lane, n int64) {
	taken := func(by int64) (sum int64) { // before that
		for _, l := range lanes {
			if by > l.next && sum <= n {
				sum += 1 + (by-1-l.next)/max(1, l.every)
			}
		}
		return sum
	}
	least, most := int64(0), int64(math.MaxInt64/2)
	for least < most { // the latest time before which at most n are taken
		if middle := least + (most-least+1)/2; taken(middle) <= n {
			least = middle
		} else {
			most = middle - 1
		}
	}
	n -= taken(least)
	for i := range lanes {
		if l := &lanes[i]; least > l.next {
			l.next += (1 + (least-1-l.next)/max(1, l.every)) * l.every
		}
	}
	for ; n > 0; n-- { // what several paths take at the same time
		take(lanes)
	}
}
