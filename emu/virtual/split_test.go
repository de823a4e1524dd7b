//go:build linux

package virtual

import (
	"slices"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// racks is a fabric of as many racks and spines, with two hosts a rack.
func racks(t *testing.T, leaves, spines int, coreDelay units.Time) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: leaves, HostsPerLeaf: 2, Spines: spines, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: coreDelay})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A guest has whole racks, and spines are where there is least to do.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		leaves, spines, guests int
		racks, spinesOf        []int // of each guest
	}{
		{1, 0, 1, []int{1}, []int{0}},
		{2, 2, 2, []int{1, 1}, []int{1, 1}},
		{9, 4, 2, []int{5, 4}, []int{1, 3}},
		{9, 4, 4, []int{3, 2, 2, 2}, []int{0, 2, 1, 1}},
		{4, 2, 4, []int{1, 1, 1, 1}, []int{1, 1, 0, 0}},
	} {
		f := racks(t, c.leaves, c.spines, 500)
		got, err := split(f, c.guests)
		if err != nil {
			t.Fatal(err)
		}
		racks, spines := make([]int, c.guests), make([]int, c.guests)
		for i := range f.Nodes {
			switch f.Nodes[i].Kind {
			case topo.Leaf:
				racks[got[i]]++
			case topo.Spine:
				spines[got[i]]++
			case topo.Host:
				if leaf := f.LeafOf(topo.HostID(i)); got[i] != got[leaf] {
					t.Errorf("%s is in guest %d, and its leaf in %d", f.Nodes[i].Name, got[i], got[leaf])
				}
			}
		}
		if !slices.Equal(racks, c.racks) || !slices.Equal(spines, c.spinesOf) {
			t.Errorf("%d racks and %d spines over %d guests: got %v and %v, want %v and %v", c.leaves, c.spines,
				c.guests, racks, spines, c.racks, c.spinesOf)
		}
	}
}

// A number of guests that a fabric cannot have is refused, with the reason.
func TestSplitRefuses(t *testing.T) {
	for _, c := range []struct {
		leaves, guests int
		delay          units.Time
		want           string
	}{
		{1, 2, 500, "2 guests for a fabric of 1 racks"},
		{4, 5, 500, "at most 4"},
		{2, 2, 0, "core_delay"},
		{2, -3, 500, "want 1 to"},
	} {
		_, err := split(racks(t, c.leaves, min(c.leaves, 2)-c.leaves%2, c.delay), c.guests)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d racks, %d guests, delay %v: got %v, want %q", c.leaves, c.guests, c.delay, err, c.want)
		}
	}
}

// The most guests of a fabric are one for each rack, and one where there can be no more.
func TestMostGuests(t *testing.T) {
	x := &emu.Experiment{}
	most := func(f *topo.Fabric) int {
		x.Topology = f.Spec
		n, err := MostGuests(x, 3)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		leaves int
		delay  units.Time
		want   int
	}{{1, 500, 1}, {2, 0, 1}, {2, 500, 2}, {4, 500, 3}} {
		if n := most(racks(t, c.leaves, 2*(c.leaves-1), c.delay)); n != c.want {
			t.Errorf("%d racks, delay %v: got %d guests of 3, want %d", c.leaves, c.delay, n, c.want)
		}
	}
	x.Apps = []emu.App{{}}
	if n := most(racks(t, 2, 2, 500)); n != 1 {
		t.Errorf("with programs: got %d guests, want 1", n)
	}
}

// A ring has room for what links carry in two quanta.
func TestRingRoom(t *testing.T) {
	f := racks(t, 2, 2, 500)
	guests, err := split(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Of each guest's leaf one link leads to the other's spine, and of its spine one to the
	// other's leaf: 400 Gbps each, for 1 us, in frames of 60 bytes that are 84 on the wire.
	const least = 2 * (400e9 / 8 * 1e-6) / 84 * (48 + 64)
	if got := ringRoom(f, guests); float64(got) < least {
		t.Errorf("got %d bytes, want %.0f at least", got, least)
	}
}
