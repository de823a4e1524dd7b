package fabric

import (
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A burst into one port is counted wherever it is: waiting, gone, arrived.
func TestSampleFollowsABurst(t *testing.T) {
	f := up(t, smallSpec, Config{Dilation: 10000, Network: transport.Network{Priorities: 2}})
	const packets, frame = 60, 1514
	dst := topo.HostID(1)
	down := f.topology.Downlink(dst).ID
	sources := []topo.HostID{0, 2, 3} // three into one
	var sockets []*burst.Socket
	for _, src := range sources {
		sockets = append(sockets, socket(t, f, src))
	}
	for i, src := range sources {
		fl := flow(f, src, f.topology.HostAddr(dst, 0), 1)
		for id := range packets / 3 {
			if _, err := sockets[i].Send(fl.Frame(uint32(id), frame, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	stats := make([]port.Stats, len(f.topology.Ports))
	var most, left int64
	for range 2000 {
		if err := f.Sample(stats); err != nil {
			t.Fatal(err)
		}
		bytes, waiting := stats[down].Backlog()
		_, left = stats[down].Sent()
		if bytes != waiting*frame || waiting+left > packets {
			t.Fatalf("%d bytes in %d packets waiting, %d gone", bytes, waiting, left)
		}
		most = max(most, waiting)
		if left == packets {
			break
		}
		time.Sleep(500 * time.Microsecond)
	}
	if left != packets || most < 2 {
		t.Errorf("%d of %d packets gone, at most %d seen waiting", left, packets, most)
	}
	if stats[f.topology.Uplink(0).ID].At != 0 {
		t.Error("Sample touched a host's port")
	}
}

// Marks in the core are counted where they are made, and none are made at the
// edge.
func TestCoreMarks(t *testing.T) {
	slow := 10 * units.Gbps
	spec := smallSpec
	spec.Links = []topo.LinkOverride{{Between: [2]string{"leaf1", "spine1"}, Rate: &slow}}
	f := up(t, spec, Config{Dilation: 1000, Network: transport.Network{Priorities: 2, MarkCore: 30000}})
	const packets, ect0, ce = 60, 2, 3
	src, dst := topo.HostID(0), topo.HostID(4)
	s, d := socket(t, f, src), socket(t, f, dst)
	fl := flow(f, src, f.topology.HostAddr(dst, 1), 1)
	for i := range uint32(packets) {
		if _, err := s.Send(fl.Frame(i, 1514, ect0)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Collect(packets, silence)
	if err != nil || len(got) != packets {
		t.Fatalf("%d of %d packets arrived (%v)", len(got), packets, err)
	}
	marked := uint64(0)
	for _, a := range got {
		if a.TOS == ce {
			marked++
		}
		if !a.Intact {
			t.Fatal("wrong IP checksum")
		}
	}
	stats := portStats(t, f)
	narrow, _ := f.topology.PortBetween(f.topology.LeafOf(src), f.topology.Nodes[len(f.topology.Nodes)-4].ID)
	for i := range stats {
		if want := map[bool]uint64{true: marked}[topo.PortID(i) == narrow]; stats[i].Marked != want {
			t.Errorf("%s counted %d marks, want %d", f.topology.Ports[i].Name, stats[i].Marked, want)
		}
	}
	if marked == 0 || marked > packets-20 {
		t.Errorf("%d of %d packets marked", marked, packets)
	}
	if m, ok, err := f.markerStats(narrow); err != nil || ok != (f.Features().Marker == emu.EBPF) || ok &&
		(m.Marked != marked || m.Max < 30000) {
		t.Errorf("marker %s: %+v, %v, %v", f.Features().Marker, m, ok, err)
	}
}
