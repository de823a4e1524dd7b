package transport_test

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Ports between switches mark for MarkCore, those of leaves towards hosts for
// MarkEdge, and a host's own never.
func TestWhichPortsMark(t *testing.T) {
	f, err := topo.New(topo.Spec{Leaves: 3, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	network := transport.Network{MarkCore: 1, MarkEdge: 2}
	for i := range f.Ports {
		p := &f.Ports[i]
		want := units.Bytes(0)
		switch kind := f.Nodes[p.Node].Kind; {
		case kind == topo.Spine, kind == topo.Leaf && f.Nodes[p.Peer].Kind == topo.Spine:
			want = 1
		case kind == topo.Leaf:
			want = 2
		}
		if got := network.MarkStep(f, p); got != want {
			t.Errorf("%s marks at %v, want %v", p.Name, got, want)
		}
	}
}
