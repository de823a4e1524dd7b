package topo

import (
	"cmp"
	"slices"

	"sirdbed/topo/units"
)

// CreditLoop is the unloaded time from a minimal packet's departure at dst to
// the arrival there of the full-size packet that it triggers at src: the loop
// that a receiver's credit has to cover. Each takes the slowest path that there is.
func (f *Fabric) CreditLoop(src, dst HostID) units.Time {
	slowest := func(from, to HostID, wire units.Bytes) (most units.Time) {
		if f.Alike(from, to) {
			return f.Transit(f.Path(from, to, 0), wire)
		}
		for _, path := range f.paths(from, to) {
			most = max(most, f.Transit(path, wire))
		}
		return most
	}
	return slowest(dst, src, MinWire) + slowest(src, dst, f.FullFrame())
}

// LongestLoop returns the longest credit loop of any two hosts.
func (f *Fabric) LongestLoop() units.Time { return f.loop }

// BDP returns the bytes that a receiver's downlink carries during its longest
// credit loop, in whole full-size packets: the most of any receiver.
func (f *Fabric) BDP() units.Bytes { return max(1, f.bdp/f.FullFrame()) * f.FullFrame() }

// addLoops works out the longest loop, and what receivers carry in theirs. Of hosts
// whose links have the same rate only the slowest two of a leaf can matter: one that
// receives, and one that sends to it.
func (f *Fabric) addLoops() {
	if len(f.Spec.Links) == 0 { // all pairs across the fabric are alike
		f.addLoop(f.Hosts[len(f.Hosts)-1], f.CreditLoop(f.Hosts[0], f.Hosts[len(f.Hosts)-1]))
		return
	}
	leaves := make([]leafSide, f.Spec.Leaves)
	for i := range leaves {
		leaves[i] = f.leafSide(i + 1)
	}
	for i := range leaves {
		for j := range leaves {
			var core leg
			if i != j {
				core = leaves[i].core(&leaves[j])
			}
			for _, src := range leaves[i].slowest {
				for _, dst := range leaves[j].slowest {
					if src != dst {
						f.addLoop(dst, core.with(f.hostLeg(src)).with(f.hostLeg(dst)).loop())
					}
				}
			}
		}
	}
}

// addLoop adds a credit loop of a receiver.
func (f *Fabric) addLoop(dst HostID, loop units.Time) {
	f.loop = max(f.loop, loop)
	f.bdp = max(f.bdp, f.Downlink(dst).Rate.BytesIn(loop))
}

// A leg is a part of a credit loop: how long its two packets take, in ps.
type leg struct{ minimal, full int64 }

func (l leg) with(o leg) leg { return leg{l.minimal + o.minimal, l.full + o.full} }

func (l leg) loop() units.Time { return units.Time((l.minimal+500)/1000 + (l.full+500)/1000) }

// leg is a port's part of a loop: both directions of a link are alike.
func (f *Fabric) leg(id PortID) leg {
	p := &f.Ports[id]
	delay := int64(p.Delay) * 1000
	return leg{p.Rate.Picoseconds(MinWire) + delay, p.Rate.Picoseconds(f.FullFrame()) + delay}
}

func (f *Fabric) hostLeg(h HostID) leg { return f.leg(f.Uplink(h).ID) }

// A leafSide is a leaf's part of credit loops.
type leafSide struct {
	slowest []HostID // two of each rate
	spines  []leg
}

func (f *Fabric) leafSide(number int) (l leafSide) {
	ports := f.Nodes[f.leaf(number)].Ports
	byRate := map[units.BitsPerSecond][]HostID{}
	for _, p := range ports[:f.Spec.HostsPerLeaf] {
		h := HostID(f.Ports[p].Peer)
		list := append(byRate[f.Ports[p].Rate], h)
		slices.SortStableFunc(list, func(a, b HostID) int { return cmp.Compare(f.hostLeg(b).full, f.hostLeg(a).full) })
		byRate[f.Ports[p].Rate] = list[:min(2, len(list))]
	}
	for _, list := range byRate {
		l.slowest = append(l.slowest, list...)
	}
	for _, p := range ports[f.Spec.HostsPerLeaf:] {
		l.spines = append(l.spines, f.leg(p))
	}
	return l
}

// core is the core's part of the loops between two leaves: the slowest way of each packet.
func (l *leafSide) core(to *leafSide) (slowest leg) {
	for i := range l.spines {
		way := l.spines[i].with(to.spines[i])
		slowest.minimal, slowest.full = max(slowest.minimal, way.minimal), max(slowest.full, way.full)
	}
	return slowest
}
