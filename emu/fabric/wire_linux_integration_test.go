//go:build linux

package fabric

import (
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Over an idle fabric each packet of a burst takes what topo computes: every
// hop's serialization and propagation, and what is before it at the slowest.
func TestWiresSerializeAndDelay(t *testing.T) {
	if p := Probe(FeatureNetem); p.Err != nil {
		t.Skip(p.Err)
	}
	const dilation = 1000
	spec := topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: 1250}
	f := up(t, spec, Config{Dilation: dilation, Wires: emu.Netem})
	if f.Wires() != emu.Netem {
		t.Fatalf("wires %q", f.Wires())
	}
	s, d := socket(t, f, 0), socket(t, f, 1)
	fl := flow(f, 0, f.topology.HostAddr(1, 0), 1)
	const packets, frame = 6, 1514
	var list [][]byte
	for i := range uint32(packets) {
		list = append(list, fl.Frame(i, frame, 0))
	}
	began := time.Now()
	if _, err := s.Send(list...); err != nil {
		t.Fatal(err)
	}
	got, err := d.Collect(packets, silence)
	if err != nil || len(got) != packets {
		t.Fatalf("%d packets (%v)", len(got), err)
	}
	path := f.topology.Path(0, 1, 0)
	wire := units.Bytes(frame + 24)
	first := time.Duration(f.topology.Transit(path, wire)) * dilation
	each := time.Duration(f.topology.Ports[path[0]].Rate.TimeFor(wire)) * dilation
	for i, a := range got {
		want := first + time.Duration(i)*each
		took := time.Unix(0, a.At).Sub(began)
		// Never early; late as machines are.
		if took < want-10*time.Microsecond || took > want+200*time.Millisecond {
			t.Errorf("packet %d took %v, want %v", i, took, want)
		}
	}
}
