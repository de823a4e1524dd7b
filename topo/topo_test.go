package topo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sirdbed/topo/units"
)

// paper is the simulated fabric of the paper's evaluation.
var paper = Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// testbed is the single rack of the paper's system evaluation.
var testbed = Spec{Leaves: 1, HostsPerLeaf: 8, HostRate: 100 * units.Gbps, HostDelay: 4135, MTU: 9000}

func mustNew(t *testing.T, s Spec) *Fabric {
	t.Helper()
	f, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSizesOfThePapersFabric(t *testing.T) {
	f := mustNew(t, paper)
	if len(f.Hosts) != 144 || len(f.Nodes) != 157 || len(f.Ports) != 2*180 {
		t.Errorf("%d hosts, %d nodes, %d ports; want 144, 157, 360", len(f.Hosts), len(f.Nodes), len(f.Ports))
	}
}

// The paper's parameter table: RTT of an MSS packet 5.5 us in rack, 7.5 us
// across; the figures to the nanosecond are those of store-and-forward.
func TestRoundTripsOfThePaper(t *testing.T) {
	f := mustNew(t, paper)
	near, far := HostID(1), HostID(143)
	for _, c := range []struct {
		dst        HostID
		there, rep units.Bytes
		want       units.Time
	}{
		{near, 1538, 1538, 5492}, {far, 1538, 1538, 7615}, {near, 1538, 84, 5260}, {far, 1538, 84, 7324},
	} {
		t.Run(fmt.Sprintf("%v answered by %v to %s", c.there, c.rep, f.HostName(c.dst)), func(t *testing.T) {
			got := f.Transit(f.Path(0, c.dst, 0), c.there) + f.Transit(f.Path(c.dst, 0, 0), c.rep)
			if got < c.want-1 || got > c.want+1 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The testbed's BDP is 24 full frames on the wire and its credit loop 18 us.
func TestTestbedBDP(t *testing.T) {
	f := mustNew(t, testbed)
	if f.BDP() != 216912 {
		t.Errorf("BDP %d, want 216912", f.BDP())
	}
	if loop := f.CreditLoop(0, 1); loop < 17990 || loop > 18010 {
		t.Errorf("loop %v, want 18us", loop)
	}
}

// A long link anywhere makes the BDP that of the hosts behind it.
func TestBDPFollowsTheLongestLoop(t *testing.T) {
	far := 10 * units.Microsecond
	s := testbed
	s.Links = []LinkOverride{{Between: [2]string{"h1-3", "leaf1"}, Delay: &far}}
	f := mustNew(t, s)
	if want := (100 * units.Gbps).BytesIn(f.CreditLoop(2, 0)) / 9038 * 9038; f.BDP() != want || want <= 216912 {
		t.Errorf("BDP %d, want %d", f.BDP(), want)
	}
}

// The BDP is that of the slowest way over the core, whichever spine it is over.
func TestBDPIsOverAllSpines(t *testing.T) {
	for spine := 1; spine <= 3; spine++ {
		for name, change := range map[string]LinkOverride{
			"longer": link(2, spine, 0, 9*units.Microsecond), "slower": link(1, spine, 5*units.Gbps, 0),
		} {
			f := racks(t, 3, 100*units.Gbps, 400*units.Gbps, change)
			want := f.Transit(f.Path(3, 0, spine), MinWire) + f.Transit(f.Path(0, 3, spine), f.FullFrame())
			if got := f.CreditLoop(0, 3); got != want || f.LongestLoop() != want {
				t.Errorf("spine %d %s: loop %v, longest %v, want %v", spine, name, got, f.LongestLoop(), want)
			}
			frames := (100 * units.Gbps).BytesIn(want) / f.FullFrame()
			if alike := racks(t, 3, 100*units.Gbps, 400*units.Gbps).BDP(); f.BDP() != frames*f.FullFrame() ||
				f.BDP() <= alike {
				t.Errorf("spine %d %s: BDP %d, want %d frames", spine, name, f.BDP(), frames)
			}
		}
	}
}

// The longest loop and the BDP are those of all pairs, in fabrics with links of any kind.
func TestLongestLoopOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		s := Spec{Leaves: 3, HostsPerLeaf: 1 + rng.IntN(3), Spines: 2, HostRate: 100 * units.Gbps, HostDelay: 1000,
			CoreRate: 100 * units.Gbps, CoreDelay: 500}
		for range 1 + rng.IntN(6) {
			o := link(1+rng.IntN(3), 1+rng.IntN(2), units.BitsPerSecond(1+rng.IntN(4))*25*units.Gbps,
				units.Time(1+rng.IntN(3000)))
			if rng.IntN(2) == 0 {
				o.Between[1] = fmt.Sprintf("h%s-%d", o.Between[0][4:], 1+rng.IntN(s.HostsPerLeaf))
			}
			s.Links = append(s.Links, o)
		}
		f := mustNew(t, s)
		var loop units.Time
		var bytes units.Bytes
		for _, src := range f.Hosts {
			for _, dst := range f.Hosts {
				if src != dst {
					loop = max(loop, f.CreditLoop(src, dst))
					bytes = max(bytes, f.Downlink(dst).Rate.BytesIn(f.CreditLoop(src, dst)))
				}
			}
		}
		bdp := max(1, bytes/f.FullFrame()) * f.FullFrame()
		if got := f.LongestLoop(); got != loop || f.BDP() != bdp {
			t.Errorf("%+v: %v and %d, want %v and %d", s.Links, got, f.BDP(), loop, bdp)
		}
	}
}

// A link that differs in the largest fabric costs no more than a moment.
func TestLoopsOfLargeFabrics(t *testing.T) {
	began := time.Now()
	f := mustNew(t, Spec{Leaves: 249, HostsPerLeaf: 250, Spines: 200, HostRate: 100 * units.Gbps, HostDelay: 1000,
		CoreRate: 400 * units.Gbps, CoreDelay: 500, Links: []LinkOverride{link(1, 2, 0, 7000)}})
	if took := time.Since(began); f.BDP() < 200_000 || took > 10*time.Second {
		t.Errorf("BDP %d after %v", f.BDP(), took)
	}
}

// UnloadedExact's closed form against a packet-by-packet recurrence.
func TestUnloadedExactMatchesRecurrence(t *testing.T) {
	slow := 30 * units.Gbps
	s := paper
	s.Links = []LinkOverride{{Between: [2]string{"leaf2", "spine1"}, Rate: &slow}}
	f := mustNew(t, s)
	fr := Framing{MSS: 1446, Overhead: 54}
	for _, dst := range []HostID{1, 20, 143} {
		path := f.Path(0, dst, 0)
		for _, size := range []units.Bytes{1, 8, 1445, 1446, 1447, 2892, 100000, 1446000} {
			free := make([]int64, len(path)) // when each hop is idle again
			var end int64
			for left := size; left > 0; left -= fr.MSS {
				var at int64
				for i, p := range path {
					at = max(at, free[i]) + f.Ports[p].Rate.Picoseconds(fr.Wire(min(left, fr.MSS)))
					free[i] = at
				}
				end = at
			}
			want := f.Propagation(path) + units.Time((end+500)/1000)
			if got := f.exactOver(path, size, fr); got != want {
				t.Errorf("%v to %s: %v, want %v", size, f.HostName(dst), got, want)
			}
			if low := f.UnloadedPaper(0, dst, size); low > want {
				t.Errorf("%v to %s: paper's definition %v above exact %v", size, f.HostName(dst), low, want)
			}
		}
	}
}

// Every address of every plane leads from every host to its owner, over the
// spine that it names.
func TestRoutesLeadEverywhere(t *testing.T) {
	s := paper
	s.Leaves, s.HostsPerLeaf, s.Spines = 3, 2, 2
	f := mustNew(t, s)
	for _, src := range f.Hosts {
		for _, dst := range f.Hosts {
			for spine := 0; spine <= s.Spines; spine++ {
				a := f.HostAddr(dst, spine)
				if h, sp, ok := f.HostOf(a); !ok || h != dst || sp != spine {
					t.Fatalf("HostOf(%v) = %v %v %v, want %v %v true", a, h, sp, ok, dst, spine)
				}
				if src != dst {
					follow(t, f, NodeID(src), NodeID(dst), a, spine, 0)
				}
			}
			if src != dst {
				follow(t, f, NodeID(src), NodeID(dst), f.KernelAddr(dst), 0, 0)
			}
		}
	}
}

func follow(t *testing.T, f *Fabric, at, dst NodeID, a Addr, spine, hops int) {
	t.Helper()
	if at == dst {
		return
	}
	if hops > 4 {
		t.Fatalf("%v loops", a)
	}
	if n := f.Nodes[at]; n.Kind == Spine && spine != 0 && n.Number != spine {
		t.Fatalf("%v went over %s, want spine %d", a, n.Name, spine)
	}
	best := -1
	var over []PortID
	for _, r := range f.Routes(at) {
		if r.Prefix.Contains(a) && r.Prefix.Bits > best {
			best, over = r.Prefix.Bits, r.Ports
		}
	}
	if best < 0 {
		t.Fatalf("%s has no route to %v", f.Nodes[at].Name, a)
	}
	for _, p := range over {
		follow(t, f, f.Ports[p].Peer, dst, a, spine, hops+1)
	}
}

func TestUniqueNamesAndMACs(t *testing.T) {
	f := mustNew(t, paper)
	seen := map[string]bool{}
	for _, p := range f.Ports {
		if seen[p.MAC.String()] || seen[p.Name] || len(p.Iface) > 15 {
			t.Fatalf("%s: duplicate or over-long (%v, %s)", p.Name, p.MAC, p.Iface)
		}
		seen[p.MAC.String()], seen[p.Name] = true, true
		if f.Ports[p.Reverse].Reverse != p.ID {
			t.Fatalf("%s: reverse of reverse differs", p.Name)
		}
	}
}

func TestImpossibleSpecs(t *testing.T) {
	fast := 20 * units.Tbps
	for field, change := range map[string]func(*Spec){
		"leaves":           func(s *Spec) { s.Leaves = 0 },
		"hosts_per_leaf":   func(s *Spec) { s.HostsPerLeaf = 251 },
		"spines":           func(s *Spec) { s.Spines = 0 },
		"mtu":              func(s *Spec) { s.MTU = 9217 },
		"host_rate":        func(s *Spec) { s.HostRate = 0 },
		"core_delay":       func(s *Spec) { s.CoreDelay = -1 },
		"links[0].between": func(s *Spec) { s.Links = []LinkOverride{{Between: [2]string{"h1-1", "h1-2"}}} },
		"links[0].rate": func(s *Spec) {
			s.Links = []LinkOverride{{Between: [2]string{"h1-1", "leaf1"}, Rate: &fast}}
		},
	} {
		t.Run(field, func(t *testing.T) {
			s := paper
			change(&s)
			_, err := New(s)
			var se *SpecError
			if !errors.As(err, &se) || se.Field != field {
				t.Errorf("got %v, want an error at %s", err, field)
			}
		})
	}
}
