//go:build linux

package virtual

import (
	"fmt"

	"sirdbed/emu"
	"sirdbed/emu/virtual/crossing"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A fabric is split over guests at links between leaves and spines: each guest has whole
// racks, side by side, and some of the spines.

// spineShare is what the spines of a fabric cost together, where all racks cost 1: they
// forward what racks send to one another, and have no hosts.
const spineShare = 0.15

// split returns the guest of each node, by topo.NodeID, of n guests. Its error says why the
// fabric cannot have so many.
func split(f *topo.Fabric, n int) ([]int, error) {
	leaves, spines := f.Spec.Leaves, f.Spec.Spines
	switch {
	case n < 1 || n > crossing.MaxGuests:
		return nil, fmt.Errorf("%d guests: want 1 to %d", n, crossing.MaxGuests)
	case n > leaves:
		return nil, fmt.Errorf("%d guests for a fabric of %d racks: a rack is in one guest, so at most %d", n, leaves,
			leaves)
	}
	guests := make([]int, len(f.Nodes))
	load := make([]float64, n)
	for i := range f.Nodes {
		node := &f.Nodes[i]
		if node.Kind != topo.Spine {
			guests[i] = (node.Leaf - 1) * n / leaves
		}
		if node.Kind == topo.Leaf {
			load[guests[i]] += 1 / float64(leaves)
		}
	}
	for i := range f.Nodes {
		if f.Nodes[i].Kind != topo.Spine {
			continue
		}
		least := 0
		for g := range load {
			if load[g] < load[least] {
				least = g
			}
		}
		guests[i] = least
		load[least] += spineShare / float64(spines)
	}
	if n > 1 && lookahead(f, guests) <= 0 {
		return nil, fmt.Errorf("%d guests: a link between them has no delay (core_delay), and each needs one: "+
			"what happens in a guest others may know of after that", n)
	}
	return guests, nil
}

// count is how many guests an experiment has.
func count(x *emu.Experiment) int { return max(1, x.Guests) }

// MostGuests is how many guests an experiment can be split over, most at most.
func MostGuests(x *emu.Experiment, most int) (int, error) {
	f, err := topo.New(x.Topology)
	if err != nil {
		return 0, err
	}
	for n := min(most, f.Spec.Leaves, crossing.MaxGuests); n > 1; n-- {
		if checkSplit(f, x, n) == nil {
			return n, nil
		}
	}
	return 1, nil
}

// checkSplit returns what keeps an experiment from a number of guests.
func checkSplit(f *topo.Fabric, x *emu.Experiment, n int) error {
	if n == 1 {
		return nil
	}
	if len(x.Apps) > 0 || x.Serves() {
		return fmt.Errorf("%d guests: programs run in one: set guests to 1", n)
	}
	_, err := split(f, n)
	return err
}

// lookahead is the least delay of a link between guests. Faults only add to it.
func lookahead(f *topo.Fabric, guests []int) units.Time {
	least := units.Never
	for i := range f.Ports {
		if p := &f.Ports[i]; guests[p.Node] != guests[p.Peer] {
			least = min(least, p.Delay)
		}
	}
	return least
}

// ringRoom is how many bytes of records a guest may send to another one in two quanta of
// the lookahead: what links at their rates carry of the smallest frames, twice over, and what
// the controllers say.
func ringRoom(f *topo.Fabric, guests []int) int64 {
	const controllers = 256 << 10
	ahead := lookahead(f, guests)
	most := int64(0)
	sent := map[[2]int]int64{}
	for i := range f.Ports {
		p := &f.Ports[i]
		pair := [2]int{guests[p.Node], guests[p.Peer]}
		if pair[0] == pair[1] {
			continue
		}
		smallest := int64(p.Rate.BytesIn(2*ahead)/topo.MinWire) * crossing.RecordBytes(int64(topo.MinWire))
		sent[pair] += 2*smallest + 8*crossing.RecordBytes(int64(f.FullFrame()))
		most = max(most, sent[pair])
	}
	return most + controllers
}
