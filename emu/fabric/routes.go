//go:build linux

package fabric

import (
	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// addRoutes adds what makes a node part of layer 3, once its interfaces are up:
// its address, permanent neighbors (ARP is for devices alone), and its routes. Gateways
// are on link by decree: no prefix is.
func (f *Fabric) addRoutes(b *rtnl.Batch, id topo.NodeID) {
	n := &f.topology.Nodes[id]
	at, device := rtnl.Loopback, "lo"
	if n.Kind == topo.Host {
		at, device = f.index(n.Ports[0]), f.topology.Ports[n.Ports[0]].Iface
	}
	address := f.gateway(id)
	b.Request("add address", device, unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Address(at, 32))
	b.Attr(unix.IFA_LOCAL, address[:])
	b.Attr(unix.IFA_ADDRESS, address[:])

	for _, p := range n.Ports {
		f.addNeighbor(b, &f.topology.Ports[p])
	}
	for _, r := range f.topology.Routes(id) {
		f.addRoute(b, r)
	}
}

func (f *Fabric) addNeighbor(b *rtnl.Batch, p *topo.Port) {
	address, mac := f.gateway(p.Peer), f.topology.Ports[p.Reverse].MAC
	if d, ok := f.config.Devices[topo.HostID(p.Peer)]; ok {
		if mac = d.PeerMAC; mac == (topo.MAC{}) {
			return // the kernel asks for it
		}
	}
	b.Request("add neighbor", p.Iface, unix.RTM_NEWNEIGH, unix.NLM_F_CREATE|unix.NLM_F_REPLACE,
		rtnl.Neighbor(f.index(p.ID)))
	b.Attr(unix.NDA_DST, address[:])
	b.Attr(unix.NDA_LLADDR, mac[:])
}

func (f *Fabric) addRoute(b *rtnl.Batch, r topo.Route) {
	first := &f.topology.Ports[r.Ports[0]]
	flags := uint32(0)
	if len(r.Ports) == 1 {
		flags = unix.RTNH_F_ONLINK
	}
	b.Request("add route "+r.Prefix.String(), first.Iface, unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Route(uint8(r.Prefix.Bits), flags))
	b.Attr(unix.RTA_DST, r.Prefix.Addr[:])
	window := f.config.Network.InitialWindow
	if f.topology.Nodes[first.Node].Kind == topo.Host && (window > 0 || f.controlByRoutes) {
		b.Nest(unix.RTA_METRICS, nil, func() {
			if window > 0 {
				b.Uint32(unix.RTAX_INITCWND, uint32(window))
			}
			if f.controlByRoutes {
				b.String(unix.RTAX_CC_ALGO, defaultControl)
			}
		})
	}
	if len(r.Ports) == 1 {
		gateway := f.gateway(first.Peer)
		b.Uint32(unix.RTA_OIF, uint32(f.index(first.ID)))
		b.Attr(unix.RTA_GATEWAY, gateway[:])
		return
	}
	b.Nest(unix.RTA_MULTIPATH, nil, func() {
		for _, p := range r.Ports {
			b.Append(rtnl.NextHop(f.index(p), unix.RTNH_F_ONLINK, f.gateway(f.topology.Ports[p].Peer)))
		}
	})
}

// gateway is the address by which neighbors know a node, and the only one that
// its kernel has. Of a host it is not the transport's address: what is sent
// there, the host's kernel is to ignore.
func (f *Fabric) gateway(id topo.NodeID) topo.Addr {
	n := &f.topology.Nodes[id]
	if n.Kind == topo.Host {
		return f.topology.KernelAddr(topo.HostID(id))
	}
	return n.Addr
}
