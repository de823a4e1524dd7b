package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// spinesOf returns how many packets to host 143 each spine carries.
func spinesOf(t *testing.T, seed uint64, tune func(n int, p *transport.Packet)) (count [4]int) {
	t.Helper()
	f := paperFabric(t)
	s := newSim(t, Config{
		Fabric: f, Seed: seed, Params: &fakeParams{Tune: tune}, Sends: []Send{{Dst: 143, Size: 4000 * 1448}},
		OnPacket: func(e PacketEvent) {
			if n := &f.Nodes[e.Port.Node]; e.Kind == Transmitted && n.Kind == topo.Spine {
				count[n.Number-1]++
			}
		},
	})
	s.Run(units.Millisecond)
	conserved(t, s)
	return count
}

func TestEntropySpraysEvenly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for spine, n := range spinesOf(t, 1, func(_ int, p *transport.Packet) { p.Entropy = uint16(r.Uint32()) }) {
		if math.Abs(float64(n)-1000) > 5*math.Sqrt(1000*0.75) {
			t.Errorf("spine %d carried %d of 4000, want about 1000", spine+1, n)
		}
	}
}

// One entropy is one path; which one depends on the entropy and on the seed.
func TestFixedEntropyPinsAPath(t *testing.T) {
	taken := map[int]bool{}
	for e := range uint16(20) {
		for seed := range uint64(2) {
			count := spinesOf(t, seed, func(_ int, p *transport.Packet) { p.Entropy = 1000 * e })
			used := 0
			for spine, n := range count {
				if n > 0 {
					used++
					taken[spine*2+int(seed)] = true
				}
			}
			if used != 1 {
				t.Errorf("entropy %d, seed %d: spines carry %v, want one to carry all", e, seed, count)
			}
		}
	}
	if len(taken) != 8 {
		t.Errorf("20 entropies with two seeds took only %v, want all 8", taken)
	}
}

func TestSpinePins(t *testing.T) {
	for spine := 1; spine <= 4; spine++ {
		count := spinesOf(t, 1, func(n int, p *transport.Packet) { p.Spine, p.Entropy = spine, uint16(n*7919) })
		if count[spine-1] != 4000 {
			t.Errorf("pinned to spine %d: spines carry %v, want it to carry all 4000", spine, count)
		}
	}
}

// Between any two hosts, over any spine, packets take topo's path.
func TestPathsAreTopos(t *testing.T) {
	f := paperFabric(t, func(s *topo.Spec) { s.Leaves, s.HostsPerLeaf, s.Spines = 3, 2, 3 })
	r := newRoutes(f, Config{Protocol: fakeProtocol})
	for src := range f.Hosts {
		for dst := range f.Hosts {
			for spine := 1; spine <= 3 && src != dst; spine++ {
				p := &packet{src: topo.HostID(src), dst: topo.HostID(dst)}
				p.Spine = spine
				path := f.Path(p.src, p.dst, spine)
				for i := range path[1:] {
					if got := r.next(int(f.Ports[path[i]].Peer), p); got != path[i+1] {
						t.Fatalf("%d to %d over %d, hop %d: %s, want %s", src, dst, spine, i, f.Ports[got].Name,
							f.Ports[path[i+1]].Name)
					}
				}
			}
		}
	}
}
