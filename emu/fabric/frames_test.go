//go:build linux

package fabric

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// smallSpec is three racks of two hosts under four spines.
var smallSpec = topo.Spec{Leaves: 3, HostsPerLeaf: 2, Spines: 4, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// paperSpec is the simulated fabric of the paper's evaluation.
var paperSpec = topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps,
	CoreRate:  400 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// up builds a fabric that is closed when the test ends, and skips where the
// machine lacks what it takes.
func up(t testing.TB, spec topo.Spec, c Config) *Fabric {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	topology, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(topology, c); errors.Is(err, emu.ErrNotSupported) {
		t.Skip(err)
	}
	f, err := Build(context.Background(), topology, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// socket opens a raw socket at a host's uplink.
func socket(t testing.TB, f *Fabric, h topo.HostID) (s *burst.Socket) {
	t.Helper()
	err := f.Do(topo.NodeID(h), func() (err error) {
		s, err = burst.Open(f.index(f.topology.Uplink(h).ID), unix.ETH_P_IP)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// flow is from a host to an address, over its leaf.
func flow(f *Fabric, src topo.HostID, dst topo.Addr, entropy uint16) burst.Flow {
	return burst.Flow{
		SrcMAC: f.topology.Uplink(src).MAC, DstMAC: f.topology.Downlink(src).MAC,
		Src: f.topology.HostAddr(src, 0), Dst: dst, SrcPort: entropy, DstPort: 4700,
	}
}

// portStats reads all ports.
func portStats(t testing.TB, f *Fabric) []port.Stats {
	t.Helper()
	stats := make([]port.Stats, len(f.topology.Ports))
	if err := f.PortStats(stats); err != nil {
		t.Fatal(err)
	}
	return stats
}

// upwards returns what a leaf has sent to each spine.
func upwards(t testing.TB, f *Fabric, leaf topo.NodeID) (packets []int64) {
	t.Helper()
	stats := portStats(t, f)
	for _, p := range f.topology.Nodes[leaf].Ports {
		if f.topology.Ports[p].Core {
			_, n := stats[p].Sent()
			packets = append(packets, n)
		}
	}
	return packets
}

// silence is how long a test waits for one more packet.
const silence = 500 * time.Millisecond
