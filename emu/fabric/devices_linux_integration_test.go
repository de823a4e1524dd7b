//go:build linux

package fabric

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A fabric of three hosts, the third of which is at the far end of a cable:
//
//	h1-1 --- leaf1 --- [cable0] === [far0]  another machine
//	h1-2 ------'        the machine
type withDevice struct {
	*Fabric
	cable  *nstest.Cable
	device *device.Device
	before *device.Snapshot
}

const deviceHost = topo.HostID(2)

// newMachine lays a cable to a machine whose devices can be taken.
func newMachine(t *testing.T) (*device.Machine, *nstest.Cable) {
	t.Helper()
	nstest.RequireNetAdmin(t)
	if f := Probe(FeatureTCX); f.Err != nil {
		t.Skipf("programs that join a device to a fabric: %v", f.Err)
	}
	nstest.Lock(t)
	cable := nstest.NewCable(t)
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return &device.Machine{
		Enter:   func(f func() error) error { return Within(cable.Machine.FD(), f) },
		FD:      cable.Machine.FD(),
		Journal: device.Journal{Dir: dir},
	}, cable
}

func upWithDevice(t *testing.T, rate units.BitsPerSecond, knowsPeer bool) *withDevice {
	t.Helper()
	machine, cable := newMachine(t)
	w := &withDevice{cable: cable, before: look(t, cable)}
	var err error
	if w.device, err = machine.Take(nstest.CableNear, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.device.Release(); err != nil {
			t.Error(err)
		}
	})
	hd := HostDevice{Device: w.device}
	if knowsPeer {
		w.cable.Far.Do(func() error {
			l, err := net.InterfaceByName(nstest.CableFar)
			if err == nil {
				hd.PeerMAC = topo.MAC(l.HardwareAddr)
			}
			return err
		})
	}
	w.Fabric = up(t, topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: rate}, Config{
		BurstTime: 100 * time.Microsecond, Devices: map[topo.HostID]HostDevice{deviceHost: hd}})
	w.cable.Join(t, w.topology.KernelAddr(deviceHost), w.topology.Nodes[w.topology.LeafOf(0)].Addr)
	return w
}

// look takes a snapshot of the device.
func look(t *testing.T, cable *nstest.Cable) (s *device.Snapshot) {
	t.Helper()
	err := cable.Machine.Do(func() error {
		c, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		s, err = device.Look(c, nstest.CableNear)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Kernels at both ends of the cable reach one another through the fabric, whether the
// leaf is told the far end's address or asks for it, and the far end knows the leaf by
// the device's address.
func TestDeviceIsAHost(t *testing.T) {
	for _, knowsPeer := range []bool{true, false} {
		t.Run(fmt.Sprintf("peer known %v", knowsPeer), func(t *testing.T) {
			w := upWithDevice(t, units.Gbps, knowsPeer)
			for _, h := range []topo.HostID{0, 1} {
				there := func() error { return ping(w.topology.KernelAddr(deviceHost)) }
				if err := w.Do(topo.NodeID(h), there); err != nil {
					t.Errorf("ping from host %d: %v", h, err)
				}
				if err := w.cable.Far.Do(func() error { return ping(w.topology.KernelAddr(h)) }); err != nil {
					t.Errorf("ping host %d from the far end: %v", h, err)
				}
			}
			neighbors, err := w.cable.Far.Handle(t).NeighList(0, 0)
			if err != nil {
				t.Fatal(err)
			}
			leaf := w.topology.Nodes[w.topology.LeafOf(0)].Addr
			found := ""
			for _, n := range neighbors {
				if a, ok := netip.AddrFromSlice(n.IP.To4()); ok && a.As4() == leaf {
					found = n.HardwareAddr.String()
				}
			}
			if want := w.before.MAC.String(); found != want {
				t.Errorf("the far end knows the leaf by %s, want the device's %s", found, want)
			}
		})
	}
}

// A fabric does not come up while nothing is at the other end of a cable, and then leaves
// the device as it was.
func TestDeviceWithoutCarrier(t *testing.T) {
	machine, cable := newMachine(t)
	before := look(t, cable)
	d, err := machine.Take(nstest.CableNear, false)
	if err != nil {
		t.Fatal(err)
	}
	far := cable.Far.Handle(t)
	l, err := far.LinkByName(nstest.CableFar)
	if err == nil {
		err = far.LinkSetDown(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	topology, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	f, err := Build(ctx, topology, Config{Devices: map[topo.HostID]HostDevice{deviceHost: {Device: d}}})
	if !errors.Is(err, context.DeadlineExceeded) || f != nil {
		t.Errorf("got %v, want that it waits", err)
	}
	if err := d.Release(); err != nil {
		t.Error(err)
	}
	if list := look(t, cable).Differences(before); len(list) > 0 {
		t.Errorf("the device is not as it was: %v", list)
	}
}

// What goes to a device is shaped by its port on the leaf, and counted there.
func TestDevicePortIsShaped(t *testing.T) {
	for _, rate := range []units.BitsPerSecond{100 * units.Mbps, units.Gbps} {
		t.Run(rate.String(), func(t *testing.T) {
			w := upWithDevice(t, rate, true)
			size := int64(rate) / 8 / 2 // half a second's worth
			var took time.Duration
			received := make(chan error, 1)
			var listener net.Listener
			err := w.cable.Far.Do(func() (err error) {
				listener, err = net.Listen("tcp4", "0.0.0.0:7000")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				c, err := listener.Accept()
				if err == nil {
					defer c.Close()
					_, err = io.Copy(c, io.LimitReader(c, 1)) // until the first byte is there
					began := time.Now()
					if err == nil {
						_, err = io.CopyN(io.Discard, c, size)
					}
					took = time.Since(began)
				}
				received <- err
			}()
			var c net.Conn
			err = w.Do(0, func() (err error) {
				to := netip.AddrPortFrom(netip.AddrFrom4(w.topology.KernelAddr(deviceHost)), 7000)
				c, err = net.DialTimeout("tcp4", to.String(), 5*time.Second)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(30 * time.Second))
			if _, err := io.CopyN(c, zeros{}, size+1); err != nil {
				t.Fatal(err)
			}
			if err := <-received; err != nil {
				t.Fatal(err)
			}
			// At most full packets' share of the link, and the burst that a late timer makes good.
			got := float64(size) * 8 / took.Seconds()
			t.Logf("%.1f Mbps of %v", got/1e6, rate)
			if most := 1.01 * float64(rate) * 1448 / 1538; got > most {
				t.Errorf("%.1f Mbps of payload, want at most %.1f", got/1e6, most/1e6)
			}
			stats := make([]port.Stats, len(w.topology.Ports))
			if err := w.PortStats(stats); err != nil {
				t.Fatal(err)
			}
			bytes, packets := stats[w.topology.Downlink(deviceHost).ID].Sent()
			if least := size / 1448; packets < least || bytes < size {
				t.Errorf("the port has counted %d packets of %d bytes, want %d or more, %d", packets, bytes, least,
					size)
			}
		})
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
