//go:build linux

package fabric

import (
	"fmt"
	"testing"
	"time"

	"sirdbed/emu/internal/burst"
	"sirdbed/topo"
)

// Every rack reaches every other over every spine, in the paper's fabric.
func TestAllRacksReachAllRacksOverAllSpines(t *testing.T) {
	f := up(t, paperSpec, Config{Dilation: 1000})
	topology := f.topology
	var ends []topo.HostID // one host of each rack
	var sockets []*burst.Socket
	for l := range topology.Spec.Leaves {
		h := topo.HostID(l*topology.Spec.HostsPerLeaf + l)
		ends, sockets = append(ends, h), append(sockets, socket(t, f, h))
	}
	for i, src := range ends {
		for j, dst := range ends {
			for spine := 1; spine <= topology.Spec.Spines && i != j; spine++ {
				fl := flow(f, src, topology.HostAddr(dst, spine), 1)
				if _, err := sockets[i].Send(fl.Frame(uint32(i*10+spine), 200, 0)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := (topology.Spec.Leaves - 1) * topology.Spec.Spines
	for j, s := range sockets {
		got, err := s.Collect(want, silence)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[uint32]bool{}
		for _, a := range got {
			if !a.Intact {
				t.Errorf("%s received a packet with a wrong IP checksum", topology.HostName(ends[j]))
			}
			ids[a.ID] = true
		}
		if len(ids) != want {
			t.Errorf("%s received %d of %d packets", topology.HostName(ends[j]), len(ids), want)
		}
	}
	stats := portStats(t, f)
	for i := range topology.Ports {
		if _, n := stats[i].Sent(); topology.Ports[i].Core && n == 0 {
			t.Errorf("nothing went over %s", topology.Ports[i].Name)
		}
	}
}

// A port per packet sprays them over all spines, one port keeps a path, an
// address plane names a spine.
func TestPaths(t *testing.T) {
	f := up(t, smallSpec, Config{Dilation: 100})
	src, dst := topo.HostID(0), topo.HostID(4)
	s := socket(t, f, src)
	leaf := f.topology.LeafOf(src)
	const packets = 400
	// sent sends packets and returns how many went to each spine.
	sent := func(spine int, entropy func(i int) uint16) []int64 {
		before := upwards(t, f, leaf)
		for i := range packets {
			fl := flow(f, src, f.topology.HostAddr(dst, spine), entropy(i))
			if _, err := s.Send(fl.Frame(uint32(i), 100, 0)); err != nil {
				t.Fatal(err)
			}
		}
		var after []int64
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			after = upwards(t, f, leaf)
			var sum int64
			for i := range after {
				after[i] -= before[i]
				sum += after[i]
			}
			if sum == packets {
				return after
			}
		}
		t.Fatalf("of %d packets %v went up", packets, after)
		return nil
	}
	for spine, n := range sent(0, func(i int) uint16 { return uint16(i)*101 + 1 }) {
		if n < packets/8 {
			t.Errorf("spine %d got %d of %d sprayed packets", spine+1, n, packets)
		}
	}
	used := 0
	for _, n := range sent(0, func(int) uint16 { return 7 }) {
		if n > 0 {
			used++
		}
	}
	if used != 1 {
		t.Errorf("one flow took %d paths", used)
	}
	for spine := 1; spine <= f.topology.Spec.Spines; spine++ {
		if n := sent(spine, func(i int) uint16 { return uint16(i) * 101 })[spine-1]; n != packets {
			t.Errorf("%d of %d packets pinned to spine %d went there", n, packets, spine)
		}
	}
}

// The hash's seed decides the path of a flow, so that runs repeat.
func TestHashSeedFixesPaths(t *testing.T) {
	if p := Probe(FeatureHashSeed); p.Err != nil {
		t.Skip(p.Err)
	}
	path := func(t *testing.T, seed uint32) (chosen [32]int) {
		f := up(t, smallSpec, Config{Dilation: 100, HashSeed: seed})
		s, dst := socket(t, f, 0), socket(t, f, 4)
		last := make([]int64, f.topology.Spec.Spines)
		for i := range chosen {
			fl := flow(f, 0, f.topology.HostAddr(4, 0), uint16(i)+1000)
			if _, err := s.Send(fl.Frame(uint32(i), 100, 0)); err != nil {
				t.Fatal(err)
			}
			if got, err := dst.Collect(1, silence); err != nil || len(got) != 1 {
				t.Fatalf("packet %d: %v, %v", i, got, err)
			}
			now := upwards(t, f, f.topology.LeafOf(0))
			for spine := range now {
				if now[spine] > last[spine] {
					chosen[i] = spine
				}
			}
			last = now
		}
		return chosen
	}
	var runs [3][32]int
	for i, seed := range []uint32{1, 1, 2} {
		t.Run(fmt.Sprintf("seed %d, run %d", seed, i), func(t *testing.T) { runs[i] = path(t, seed) })
	}
	if runs[0] != runs[1] {
		t.Errorf("with one seed, paths %v and %v", runs[0], runs[1])
	}
	if runs[0] == runs[2] {
		t.Errorf("with two seeds, the same paths %v", runs[0])
	}
}
