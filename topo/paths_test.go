package topo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/topo/units"
)

// A change of a link: leaf1 or leaf2 to a spine.
func link(leaf, spine int, rate units.BitsPerSecond, delay units.Time) LinkOverride {
	o := LinkOverride{Between: [2]string{fmt.Sprintf("leaf%d", leaf), fmt.Sprintf("spine%d", spine)}}
	if rate > 0 {
		o.Rate = &rate
	}
	if delay > 0 {
		o.Delay = &delay
	}
	return o
}

func racks(t *testing.T, spines int, host, core units.BitsPerSecond, links ...LinkOverride) *Fabric {
	t.Helper()
	return mustNew(t, Spec{Leaves: 2, HostsPerLeaf: 2, Spines: spines, HostRate: host, HostDelay: 1250,
		CoreRate: core, CoreDelay: 500, Links: links})
}

// carry sends packets of a message one after the other, each over its path, and
// returns when the last byte of them has arrived: every hop serves first come first.
func carry(f *Fabric, paths [][]PortID, wire []units.Bytes, over []int) units.Time {
	free := map[PortID]int64{} // when a hop is idle again, in ps
	type arrival struct {
		at   int64
		wire units.Bytes
	}
	var arrivals []arrival
	for i, w := range wire {
		var at int64
		path := paths[over[i]]
		for _, p := range path[:len(path)-1] {
			at = max(at, free[p]) + f.Ports[p].Rate.Picoseconds(w)
			free[p] = at
			at += int64(f.Ports[p].Delay) * 1000
		}
		arrivals = append(arrivals, arrival{at, w})
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return int(a.at - b.at) })
	down := &f.Ports[paths[0][len(paths[0])-1]]
	var end int64
	for _, a := range arrivals {
		end = max(end, a.at) + down.Rate.Picoseconds(a.wire)
	}
	return units.Time((end+500)/1000) + down.Delay
}

// best is the least latency of a message over all orders of its packets and all
// ways to spread them over paths, by trying them.
func best(f *Fabric, src, dst HostID, size units.Bytes, fr Framing) units.Time {
	full, last := fr.split(size)
	n := int(full)
	if last > 0 {
		n++
	}
	paths := f.paths(src, dst)
	least := units.Never
	for short := range n { // where the packet that is not full is sent
		wire := make([]units.Bytes, n)
		for i := range wire {
			wire[i] = fr.Wire(fr.MSS)
		}
		if last > 0 {
			wire[short] = fr.Wire(last)
		} else if short > 0 {
			break
		}
		over := make([]int, n)
		for {
			least = min(least, carry(f, paths, wire, over))
			i := 0
			for ; i < n; i++ {
				if over[i]++; over[i] < len(paths) {
					break
				}
				over[i] = 0
			}
			if i == n {
				break
			}
		}
	}
	return least
}

// No way to use the paths is faster than FastestExact, and some come near it, in fabrics
// of random rates and delays.
func TestNothingIsFasterThanFastestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fr := Framing{MSS: 1440, Overhead: 60}
	tight, all := 0, 0
	for range 400 {
		spines := 2 + rng.IntN(2)
		rate := func() units.BitsPerSecond { return units.BitsPerSecond(10+rng.IntN(200)) * units.Gbps }
		var links []LinkOverride
		for leaf := 1; leaf <= 2; leaf++ {
			for spine := 1; spine <= spines; spine++ {
				if rng.IntN(2) == 0 {
					links = append(links, link(leaf, spine, rate(), units.Time(1+rng.IntN(2000))))
				}
			}
		}
		f := racks(t, spines, rate(), rate(), links...)
		size := units.Bytes(1+rng.IntN(5)) * fr.MSS
		if rng.IntN(2) == 0 {
			size -= units.Bytes(rng.IntN(int(fr.MSS)))
		}
		got, want := f.FastestExact(0, 3, size, fr), best(f, 0, 3, size, fr)
		if want+1 < got {
			t.Errorf("%v over %+v: FastestExact is %v, and %v can be", size, f.Spec, got, want)
		}
		if single := f.UnloadedExact(0, 3, size, fr); got > single {
			t.Errorf("%v over %+v: %v over all paths, %v over one", size, f.Spec, got, single)
		}
		if all++; want <= got+got/50 {
			tight++
		}
	}
	if tight < all*9/10 {
		t.Errorf("%d of %d are within 2 %% of what can be, want nine tenths", tight, all)
	}
}

// A short last packet that overtakes on another path counts: where all paths are alike
// and no slower than hosts, some way to spread packets is as fast as FastestExact.
func TestFastestExactIsReachedWherePathsAreAlike(t *testing.T) {
	fr := Framing{MSS: 1440, Overhead: 60}
	for _, core := range []units.BitsPerSecond{100, 200, 400} {
		for spines := 2; spines <= 3; spines++ {
			f := racks(t, spines, 100*units.Gbps, core*units.Gbps)
			for full := range units.Bytes(4) {
				for _, last := range []units.Bytes{0, 1, 8, 100, 200, 300, 500, 700, 1000, 1439} {
					if full+last == 0 {
						continue
					}
					size := full*fr.MSS + last
					got, want := f.FastestExact(0, 3, size, fr), best(f, 0, 3, size, fr)
					if got < want-1 || got > want+1 {
						t.Errorf("%v over %d spines at %d Gbps: %v, and %v can be", size, spines, core, got, want)
					}
				}
			}
		}
	}
}

// More bytes take no less time, whatever the paths.
func TestFastestExactGrows(t *testing.T) {
	fr := Framing{MSS: 1440, Overhead: 60}
	for _, f := range []*Fabric{
		racks(t, 2, 100*units.Gbps, 100*units.Gbps), racks(t, 2, 100*units.Gbps, 400*units.Gbps),
		racks(t, 3, 100*units.Gbps, 40*units.Gbps), racks(t, 2, 100*units.Gbps, 40*units.Gbps, link(2, 1, 0, 7000)),
		racks(t, 3, 100*units.Gbps, 100*units.Gbps, link(1, 1, 10*units.Gbps, 2000)),
	} {
		var before units.Time
		for size := units.Bytes(1); size < 8*fr.MSS; size++ {
			got := f.FastestExact(0, 3, size, fr)
			if got < before {
				t.Fatalf("%v over %+v: %v, and %v a byte less", size, f.Spec, got, before)
			}
			before = got
		}
	}
}

// Where all paths are alike and not slower than hosts, and within a rack, all paths
// are as fast as one, but for a short last packet that overtakes the only other one.
func TestFastestOfPathsThatAreAlike(t *testing.T) {
	fr := Framing{MSS: 1446, Overhead: 54}
	same, other := link(2, 2, 400*units.Gbps, 500), link(2, 2, 25*units.Gbps, 7000)
	for _, c := range []struct {
		name     string
		f        *Fabric
		src, dst HostID
	}{
		{"no spine", testFabric(t), 0, 1},
		{"one spine, slow", racks(t, 1, 100*units.Gbps, 40*units.Gbps), 0, 3},
		{"two spines", racks(t, 2, 100*units.Gbps, 400*units.Gbps), 0, 3},
		{"two spines at hosts' rate", racks(t, 2, 100*units.Gbps, 100*units.Gbps), 0, 3},
		{"five spines", racks(t, 5, 100*units.Gbps, 400*units.Gbps), 0, 3},
		{"named, and the same", racks(t, 2, 100*units.Gbps, 400*units.Gbps, same), 0, 3},
		{"within a rack", racks(t, 2, 100*units.Gbps, 400*units.Gbps, other), 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []units.Bytes{1, 8, 1445, 1446, 1447, 2892, 4000, 100_000, 1_446_000, 10_000_001} {
				want := c.f.UnloadedExact(c.src, c.dst, size, fr)
				gain := units.Time(0) // of the 84 bytes of a short packet
				if size == 1447 && !c.f.onePath(c.src, c.dst) {
					gain = c.f.Downlink(c.dst).Rate.TimeFor(MinWire) + 1
				}
				if got := c.f.FastestExact(c.src, c.dst, size, fr); got > want || got < want-gain {
					t.Errorf("exact, %v: %v, want %v less up to %v", size, got, want, gain)
				}
				if got, want := c.f.FastestPaper(c.src, c.dst, size), c.f.UnloadedPaper(c.src, c.dst, size); got !=
					want && c.name != "one spine, slow" {
					t.Errorf("paper, %v: %v, want %v", size, got, want)
				}
			}
			if !c.f.Alike(c.src, c.dst) {
				t.Error("the paths are not alike")
			}
		})
	}
}

func testFabric(t *testing.T) *Fabric { return mustNew(t, testbed) }

// A large message is as fast as all paths together, a small one as the fastest of
// them.
func TestFastestOfPathsThatDiffer(t *testing.T) {
	fr := Framing{MSS: 1446, Overhead: 54}
	frame := func(rate units.BitsPerSecond) units.Time { return rate.TimeFor(fr.Wire(fr.MSS)) }
	const host = 100 * units.Gbps
	for _, c := range []struct {
		name  string
		f     *Fabric
		small units.Time          // that a full packet takes
		rate  units.BitsPerSecond // of 10 MB
	}{
		{"one is longer", racks(t, 2, host, host, link(2, 1, 0, 7000)), 3500 + 4*frame(host), host},
		{"one is slower", racks(t, 2, host, host, link(2, 1, 25*units.Gbps, 0)), 3500 + 4*frame(host), host},
		{"one is slower, and all are slow", racks(t, 2, host, 40*units.Gbps, link(2, 1, 25*units.Gbps, 0)),
			3500 + 2*frame(host) + 2*frame(40*units.Gbps), 65 * units.Gbps},
		{"slower links of both leaves", racks(t, 3, host, 40*units.Gbps, link(1, 1, 10*units.Gbps, 0),
			link(2, 2, 20*units.Gbps, 0)), 3500 + 2*frame(host) + 2*frame(40*units.Gbps), 70 * units.Gbps},
		{"all are alike and slow", racks(t, 4, host, 20*units.Gbps), 3500 + 2*frame(host) + 2*frame(20*units.Gbps),
			80 * units.Gbps},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.f.FastestExact(0, 3, fr.MSS, fr); got < c.small-2 || got > c.small+2 {
				t.Errorf("a full packet: %v, want %v", got, c.small)
			}
			size := 10 * units.Megabyte
			got, want := c.f.FastestExact(0, 3, size, fr), c.rate.TimeFor(fr.WireOf(size))
			if got < want || got > want+want/50 {
				t.Errorf("10 MB: %v, want %v or little more", got, want)
			}
			if low := c.f.FastestPaper(0, 3, size); low > got || low < want*9/10 {
				t.Errorf("10 MB by the paper's definition: %v, want some less than %v", low, got)
			}
		})
	}
}

// A message of any size is bounded in a moment, and as well as one of which every
// packet is looked at: the bound grows with each packet.
func TestFastestExactOfHugeMessages(t *testing.T) {
	f, err := New(Spec{
		Leaves: 2, HostsPerLeaf: 1, Spines: 3, HostRate: 100 * units.Gbps, CoreRate: 40 * units.Gbps,
		HostDelay: 1000, CoreDelay: 500, MTU: 1500,
		Links: []LinkOverride{{
			Between: [2]string{"leaf2", "spine1"}, Rate: new(25 * units.Gbps), Delay: new(units.Time(7000)),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	fr := Framing{MSS: 1460, Overhead: 40}
	near := f.FastestExact(0, 1, 2*looked*1460, fr)
	for n := units.Bytes(1); n <= 2000; n += 333 {
		got := f.FastestExact(0, 1, (2*looked+n)*1460, fr)
		// 100 Gbps of the sender are less than 40 + 40 + 25 of the core.
		if want := near + units.Time(123.04*float64(n)); got < want-200 || got > want+200 {
			t.Errorf("%d more packets: %v, want %v", n, got, want)
		}
	}
	sent := (100 * units.Gbps).TimeFor(units.Bytes(1_000_000_000_000/1460) * 1538)
	if got, want := f.FastestExact(0, 1, 1e12, fr), sent; got < want {
		t.Errorf("1 TB takes %v, less than the %v that its sender's link does", got, want)
	}
	// skip does what as many takes do.
	lanes := func() []lane { return []lane{{100, 7}, {90, 11}, {300, 3}, {100, 7}} }
	for n := range int64(300) {
		by, one := lanes(), lanes()
		skip(by, n)
		for range n {
			take(one)
		}
		for i := range by {
			if by[i] != one[i] {
				t.Fatalf("%d packets: lanes %v, want %v", n, by, one)
			}
		}
	}
}
