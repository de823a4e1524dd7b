//go:build linux

package fabric

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// A HostDevice is a host that stands behind an interface of the machine.
type HostDevice struct {
	*device.Device
	// PeerMAC is the address of the interface at the other end of the cable; zero: the
	// leaf asks for it (ARP).
	PeerMAC topo.MAC
}

// IsDevice reports whether a node is a host behind a device. The fabric has an empty
// namespace for it.
func (f *Fabric) IsDevice(id topo.NodeID) bool {
	_, ok := f.config.Devices[topo.HostID(id)]
	return ok
}

// mac is the address of a port. A leaf has that of the device, by which others know what
// is behind that, and with which frames have to leave: a virtual function lets no others
// pass.
func (f *Fabric) mac(p *topo.Port) topo.MAC {
	if d, ok := f.config.Devices[topo.HostID(p.Peer)]; ok {
		return d.MAC()
	}
	return p.MAC
}

// addDeviceLink makes a leaf's port to a host that is a device. The other end stands
// beside the device.
func (f *Fabric) addDeviceLink(b *rtnl.Batch, p *topo.Port) {
	d := f.config.Devices[topo.HostID(p.Peer)]
	b.Request("add link veth", p.Name, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Link(f.index(p.ID), 0, 0))
	f.linkAttrs(b, p)
	b.Nest(unix.IFLA_LINKINFO, nil, func() {
		b.String(unix.IFLA_INFO_KIND, "veth")
		b.Nest(unix.IFLA_INFO_DATA, nil, func() {
			b.Nest(vethInfoPeer, rtnl.Link(0, 0, 0), func() {
				b.String(unix.IFLA_IFNAME, d.Beside())
				b.Uint32(unix.IFLA_MTU, uint32(f.topology.Spec.MTU))
				b.Uint32(unix.IFLA_NUM_TX_QUEUES, 1)
				b.Uint32(unix.IFLA_NUM_RX_QUEUES, 1)
				b.Uint32(unix.IFLA_NET_NS_FD, uint32(d.NamespaceFD()))
			})
		})
	})
}

// awaitDevices waits until something is at the other end of each device's cable.
func (f *Fabric) awaitDevices(ctx context.Context) error {
	deadline := time.Now().Add(carrierTimeout)
	for _, h := range f.topology.Hosts {
		d, ok := f.config.Devices[h]
		for ok {
			carrier, err := d.Carrier()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return f.nodeError(topo.NodeID(h), err)
			}
			if carrier.Up {
				break
			}
			if time.Now().After(deadline) {
				return f.nodeError(topo.NodeID(h), fmt.Errorf("device %s is still without carrier after %v: "+
					"is its cable in, and the other end up?", d.Name(), carrierTimeout))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// attachDevices joins devices to what stands beside them, once their leaves' ports are
// there.
func (f *Fabric) attachDevices() error {
	for _, h := range f.topology.Hosts {
		if d, ok := f.config.Devices[h]; ok {
			if err := d.Attach(f.topology.Spec.MTU); err != nil {
				return f.nodeError(topo.NodeID(h), err)
			}
		}
	}
	return nil
}
