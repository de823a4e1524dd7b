//go:build linux

package node

import (
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Foresight reaches as far as the nearest host's smallest frame takes, and is left where
// that is not worth a sleep, or where links delay frames.
func TestForesightReachesToTheNearestHost(t *testing.T) {
	f, err := topo.New(topo.Spec{
		Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
		HostDelay: 1000, CoreDelay: 5000, MTU: 1500,
	})
	if err != nil {
		t.Fatal(err)
	}
	self := f.Hosts[0]
	paths := make([][]topo.PortID, len(f.Hosts))
	for _, h := range f.Hosts {
		if h != self {
			paths[h] = f.Path(h, self, 0)
		}
	}
	near := f.Transit(f.Path(f.Hosts[1], self, 0), topo.MinWire)
	if far := f.Transit(f.Path(f.Hosts[3], self, 0), topo.MinWire); near >= far {
		t.Fatalf("the near host is at %v, the far one at %v", near, far)
	}
	times := func(d int64) func(units.Time) int64 {
		return func(t units.Time) int64 { return int64(t) * d }
	}
	enough := leastForesight/int64(near) + 1
	for _, c := range []struct {
		name  string
		paths [][]topo.PortID
		d     int64
		want  int64
	}{
		{"links delay frames", nil, enough, 0},
		{"too near", paths, enough - 2, 0},
		{"far enough", paths, enough, int64(near) * enough},
	} {
		if got := newForesight(&nic{fabric: f, paths: c.paths}, times(c.d)).transit; got != c.want {
			t.Errorf("%s: %d ns, want %d", c.name, got, c.want)
		}
	}
}
