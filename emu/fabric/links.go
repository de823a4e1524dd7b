//go:build linux

package fabric

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// Interface indices are chosen, not given: port p is firstIndex+p in whatever
// namespace it is, and its wire's ifb follows behind all ports. So one number
// finds a port in a dump of any namespace and in the markers' map, and both ends
// of a veth differ, without which the kernel delays the news of its carrier by
// up to a second (linkwatch_urgent_event of net/core/link_watch.c).
const firstIndex = 2

func (f *Fabric) index(p topo.PortID) int { return firstIndex + int(p) }

func (f *Fabric) wireIndex(p topo.PortID) int { return firstIndex + len(f.topology.Ports) + int(p) }

// txQueueLength is what a veth's qdisc tree takes for granted: HTB's queue for
// packets of no class. Nothing should ever be in it.
const txQueueLength = 1000

// Attributes of links (include/uapi/linux/if_link.h, veth.h).
const vethInfoPeer = 1

// linkBatch is how many links are made in one system call, so that a context
// that ends is noticed.
const linkBatch = 32

// makeLinks makes every link as a veth pair, each end in its namespace from the
// start and down.
func (f *Fabric) makeLinks(ctx context.Context) error {
	var b rtnl.Batch
	var conn *rtnl.Conn
	for id := range f.own() {
		conn = f.namespaces[id].conn
		break
	}
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := conn.Do(&b); err != nil {
			return fmt.Errorf("fabric: make links: %w", port.Explain(err))
		}
		b.Reset()
		return nil
	}
	for i := range f.topology.Ports {
		p := &f.topology.Ports[i]
		if f.crosses(p) {
			f.addCrossing(&b, p)
			continue
		}
		if p.Reverse < p.ID || !f.Has(p.Node) {
			continue // the other end of a link made before, or another kernel's
		}
		peer := &f.topology.Ports[p.Reverse]
		if f.IsDevice(p.Node) {
			f.addDeviceLink(&b, peer)
			continue
		}
		b.Request("add link veth", p.Name, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
			rtnl.Link(f.index(p.ID), 0, 0))
		f.linkAttrs(&b, p)
		b.Nest(unix.IFLA_LINKINFO, nil, func() {
			b.String(unix.IFLA_INFO_KIND, "veth")
			b.Nest(unix.IFLA_INFO_DATA, nil, func() {
				b.Nest(vethInfoPeer, rtnl.Link(f.index(peer.ID), 0, 0), func() { f.linkAttrs(&b, peer) })
			})
		})
		if b.Len() == linkBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (f *Fabric) linkAttrs(b *rtnl.Batch, p *topo.Port) {
	b.String(unix.IFLA_IFNAME, p.Iface)
	mac := f.mac(p)
	b.Attr(unix.IFLA_ADDRESS, mac[:])
	b.Uint32(unix.IFLA_MTU, uint32(f.topology.Spec.MTU))
	b.Uint32(unix.IFLA_TXQLEN, txQueueLength)
	b.Uint32(unix.IFLA_NUM_TX_QUEUES, 1)
	b.Uint32(unix.IFLA_NUM_RX_QUEUES, 1)
	b.Uint32(unix.IFLA_GSO_MAX_SEGS, 1) // of TCP, which segments late whatever the device says
	b.Uint32(unix.IFLA_NET_NS_FD, uint32(f.namespaces[p.Node].fd))
}

// Legacy ethtool commands (include/uapi/linux/ethtool.h).
const (
	ethtoolSetTxChecksum    = 0x17
	ethtoolSetScatterGather = 0x19
	ethtoolSetGRO           = 0x2c
)

// dropOffloads makes every packet on a link a packet of the wire: checksums are
// written, without scatter-gather there is no segmentation offload
// (netdev_fix_features), and receivers do not merge.
func (f *Fabric) dropOffloads(id topo.NodeID) error {
	for _, p := range f.topology.Nodes[id].Ports {
		if f.crosses(&f.topology.Ports[p]) {
			continue // a device that has none
		}
		for _, command := range []uint32{ethtoolSetTxChecksum, ethtoolSetScatterGather, ethtoolSetGRO} {
			if _, err := f.namespaces[id].conn.Ethtool(f.topology.Ports[p].Iface, command, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	operUp         = 6 // IF_OPER_UP (RFC 2863)
	carrierTimeout = 10 * time.Second
	// ethtoolGetLink asks for an interface's carrier (include/uapi/linux/ethtool.h).
	ethtoolGetLink = 0x0a
)

// awaitCarrier waits until every port forwards: the first end of a pair to be brought up
// starts only when the kernel has seen that the other followed. A worker of the kernel's
// sees to 200 interfaces, and then to 100 a second. An interface that is asked for its carrier
// is seen to at once, from Linux 6.9 on (linkwatch_sync_dev of net/core/link_watch.c).
func (f *Fabric) awaitCarrier(ctx context.Context) error {
	deadline := time.Now().Add(carrierTimeout)
	for id := range f.own() {
		for !f.IsDevice(id) {
			down, err := f.portsDown(id)
			if err == nil {
				err = f.askCarrier(down)
			}
			if err == nil && len(down) > 0 {
				down, err = f.portsDown(id)
			}
			if err != nil {
				return f.nodeError(id, err)
			}
			if len(down) == 0 {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("fabric: port %s is still without carrier after %v", down[0].Name, carrierTimeout)
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	return nil
}

// askCarrier asks ports for their carriers.
func (f *Fabric) askCarrier(ports []*topo.Port) error {
	for _, p := range ports {
		_, err := f.namespaces[p.Node].conn.Ethtool(p.Iface, ethtoolGetLink, 0)
		if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	return nil
}

// portsDown returns the ports of a node that are not operational.
func (f *Fabric) portsDown(id topo.NodeID) (down []*topo.Port, err error) {
	found := 0
	err = f.eachLink(id, func(p topo.PortID, attrs []byte) {
		found++
		if state := rtnl.Find(attrs, unix.IFLA_OPERSTATE); len(state) != 1 || state[0] != operUp {
			down = append(down, &f.topology.Ports[p])
		}
	})
	if want := len(f.topology.Nodes[id].Ports); err == nil && found < want {
		err = fmt.Errorf("%d of %d links found", found, want)
	}
	return down, err
}
