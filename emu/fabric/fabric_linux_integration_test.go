//go:build linux

package fabric

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// What is sent to a transport's address reaches raw sockets, and the kernel of
// that host does not say a word.
func TestHostKernelsStaySilent(t *testing.T) {
	f := up(t, smallSpec, Config{Dilation: 100})
	const packets = 50
	for _, dst := range []topo.HostID{1, 5} { // same rack, other rack
		s, d := socket(t, f, 0), socket(t, f, dst)
		for i := range packets {
			fl := flow(f, 0, f.topology.HostAddr(dst, i%(f.topology.Spec.Spines+1)), uint16(i))
			if _, err := s.Send(fl.Frame(uint32(i), 300, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.Collect(packets, silence); err != nil || len(got) != packets {
			t.Fatalf("%d of %d packets arrived (%v)", len(got), packets, err)
		}
		if got, _ := s.Collect(1, silence/5); len(got) != 0 {
			t.Errorf("the sender received protocol %d from %v", got[0].Protocol, got[0].Src)
		}
		counters, err := f.LinkCounters()
		if err != nil {
			t.Fatal(err)
		}
		if n := counters[f.topology.Uplink(dst).ID].SentPackets; n != 0 {
			t.Errorf("%s, which only received, sent %d packets", f.topology.HostName(dst), n)
		}
	}
}

// Kernels answer at their own address: ping and TCP work.
func TestKernelsPingOneAnother(t *testing.T) {
	f := up(t, smallSpec, Config{Dilation: 100})
	for _, dst := range []topo.HostID{1, 2, 5} {
		if err := f.Do(0, func() error { return ping(f.topology.KernelAddr(dst)) }); err != nil {
			t.Errorf("ping %s: %v", f.topology.HostName(dst), err)
		}
	}
}

// ping sends an ICMP echo request and waits for the reply.
func ping(to [4]byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	tv := unix.NsecToTimeval(int64(2 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return err
	}
	request := []byte{8, 0, 0xf7, 0xfd, 0, 1, 0, 1} // echo, checksum, id 1, sequence 1
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrInet4{Addr: to}); err != nil {
		return err
	}
	buf := make([]byte, 1500)
	n, from, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return err
	}
	if a := from.(*unix.SockaddrInet4).Addr; a != to || n < 28 || buf[20] != 0 {
		return fmt.Errorf("type %d from %v", buf[20], a)
	}
	return nil
}

// Ports are set up as the protocol asks: marks in the core, none at the edge, and
// the same in each direction.
func TestPortsFollowTheProtocol(t *testing.T) {
	f := up(t, smallSpec, Config{Dilation: 1000, QueueLimit: 1000000, BurstTime: 100 * time.Microsecond,
		Network: transport.Network{Priorities: 3, MarkCore: 125000, CreditClass: true, CreditQueue: 8,
			CreditShare: 0.05}})
	for i := range f.topology.Ports {
		p := &f.topology.Ports[i]
		c := f.PortConfig(p.ID)
		wantMark, wantRate := units.Bytes(0), units.BitsPerSecond(100*units.Mbps)
		if p.Core {
			wantMark, wantRate = 125000, 400*units.Mbps
		}
		if c.Mark != wantMark || c.Rate != wantRate || c.Priorities != 3 || c.Credit.Share != 0.05 ||
			c.Burst != wantRate.BytesIn(100000) {
			t.Errorf("%s: got %+v, want a step of %v at %v, 3 levels and 5 %% for credits", p.Name, c,
				wantMark, wantRate)
		}
	}
	if f.marker == emu.NoMarker || f.Features().Marker != f.marker {
		t.Errorf("marker %q, features %v: want a marker, and the same", f.marker, f.Features())
	}
}

// Interfaces carry packets as they are on the wire, and the topology's names,
// addresses and MTU.
func TestInterfaces(t *testing.T) {
	spec := smallSpec
	spec.MTU = 9000
	f := up(t, spec, Config{Dilation: 100})
	for _, id := range []topo.NodeID{0, f.topology.LeafOf(0)} {
		n := &f.topology.Nodes[id]
		err := f.Do(id, func() error {
			links, err := net.Interfaces()
			if err != nil {
				return err
			}
			if len(links) != len(n.Ports)+1 && f.wires == emu.HostDelay {
				return fmt.Errorf("%d interfaces besides lo, want %d", len(links)-1, len(n.Ports))
			}
			for _, p := range n.Ports {
				p := &f.topology.Ports[p]
				link, err := net.InterfaceByName(p.Iface)
				if err != nil {
					return err
				}
				if link.MTU != 9000 || link.HardwareAddr.String() != p.MAC.String() || link.Flags&net.FlagUp == 0 {
					t.Errorf("%s: got %+v, want it up with MTU 9000 and %v", p.Name, link, p.MAC)
				}
			}
			b, err := os.ReadFile("/proc/thread-self/net/if_inet6")
			if err == nil && len(b) > 0 {
				t.Errorf("%s has IPv6 addresses: %s", n.Name, b)
			}
			// Checksum, scatter-gather, TSO, GSO and GRO (include/uapi/linux/ethtool.h).
			for name, command := range map[string]uint32{
				"tx checksum": 0x16, "sg": 0x18, "tso": 0x1e, "gso": 0x23, "gro": 0x2b,
			} {
				on, err := offload(f.topology.Ports[n.Ports[0]].Iface, command)
				if err != nil || on != 0 {
					t.Errorf("%s: %s is %d (%v), want 0", n.Name, name, on, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		// Checksum, scatter-gather, TSO, GSO and GRO (include/uapi/linux/ethtool.h).
		for name, command := range map[string]uint32{"tx checksum": 0x16, "sg": 0x18, "tso": 0x1e, "gso": 0x23,
			"gro": 0x2b} {
			on, err := f.namespaces[id].conn.Ethtool(f.topology.Ports[n.Ports[0]].Iface, command, 0)
			if err != nil || on != 0 {
				t.Errorf("%s: %s is %d (%v), want 0", n.Name, name, on, err)
			}
		}
	}
}

func TestBuildStopsWithItsContext(t *testing.T) {
	f := up(t, smallSpec, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, f.topology, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestClosedFabricSaysSo(t *testing.T) {
	f := up(t, smallSpec, Config{})
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, counters := f.LinkCounters()
	for _, err := range []error{f.Do(0, func() error { return nil }), f.Sample(nil), f.PortStats(nil), counters} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want %v", err, ErrClosed)
		}
	}
	if f.NamespaceFD(0) != -1 {
		t.Error("a closed fabric still has namespaces")
	}
}

// What the kernel lacks is named, with its option and who has it.
func TestMissingFeaturesAreNamed(t *testing.T) {
	f := up(t, smallSpec, Config{})
	for _, c := range []struct {
		feature, option string
		config          Config
	}{
		{FeatureRED, "CONFIG_NET_SCH_RED", Config{Marker: emu.RED, Network: transport.Network{MarkCore: 1000}}},
		{FeatureNetem, "CONFIG_NET_SCH_NETEM", Config{Wires: emu.Netem}},
	} {
		g, err := Build(context.Background(), f.topology, c.config)
		if Probe(c.feature).Err == nil {
			if err != nil {
				t.Errorf("%s works, but: %v", c.feature, err)
			} else {
				g.Close()
			}
			continue
		}
		if !errors.Is(err, emu.ErrNotSupported) || !strings.Contains(err.Error(), c.option) ||
			!strings.Contains(err.Error(), "virtual") {
			t.Errorf("%s: got %v, want ErrNotSupported with %s", c.feature, err, c.option)
		}
	}
}

// A port that need not mark does not need a marker.
func TestNoMarkerWhereNothingMarks(t *testing.T) {
	f := up(t, smallSpec, Config{Marker: emu.RED})
	if f.marker != emu.NoMarker {
		t.Errorf("marker %q, want %q", f.marker, emu.NoMarker)
	}
}
