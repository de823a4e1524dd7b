package topo

import "net/netip"

// Second octets of the address plan in the package comment. 1 to maxSpines pin
// a spine.
const (
	anySpine   = 0
	kernelNet  = 250
	leafNet    = 251
	spineNet   = 252
	hostPrefix = 24
)

func addr(plane, leaf, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(plane), byte(leaf), byte(host)})
}

// HostAddr returns the address that leads to h over the given spine, counted
// from 1, or over any spine with 0.
func (f *Fabric) HostAddr(h HostID, spine int) netip.Addr {
	n := &f.Nodes[h]
	return addr(spine, n.Leaf, n.Number)
}

// KernelAddr returns the address that h's kernel answers to.
func (f *Fabric) KernelAddr(h HostID) netip.Addr { return f.HostAddr(h, kernelNet) }

// HostOf returns the host that an address of any plane leads to, and the spine that
// the address pins (0: any).
func (f *Fabric) HostOf(a netip.Addr) (h HostID, spine int, ok bool) {
	if !a.Is4() {
		return 0, 0, false
	}
	ip := a.As4()
	leaf, number := int(ip[2]), int(ip[3])
	if ip[0] != 10 || leaf < 1 || leaf > f.Spec.Leaves || number < 1 || number > f.Spec.HostsPerLeaf {
		return 0, 0, false
	}
	h = HostID((leaf-1)*f.Spec.HostsPerLeaf + number - 1)
	switch plane := int(ip[1]); {
	case plane <= f.Spec.Spines:
		return h, plane, true
	case plane == kernelNet:
		return h, 0, true
	}
	return 0, 0, false
}

// A Route leads to Prefix over one of Ports (ECMP by the layer-4 hash when
// there are several).
type Route struct {
	Prefix netip.Prefix
	Ports  []PortID
}

// Routes returns the forwarding table of a node.
func (f *Fabric) Routes(id NodeID) []Route {
	n := &f.Nodes[id]
	switch n.Kind {
	case Host:
		return []Route{{netip.PrefixFrom(addr(0, 0, 0), 8), n.Ports}}
	case Leaf:
		return f.leafRoutes(n)
	default:
		return f.spineRoutes(n)
	}
}

func (f *Fabric) leafRoutes(n *Node) (routes []Route) {
	hosts, spines := n.Ports[:f.Spec.HostsPerLeaf], n.Ports[f.Spec.HostsPerLeaf:]
	for i, port := range hosts {
		for _, plane := range f.planes() {
			routes = append(routes, Route{netip.PrefixFrom(addr(plane, n.Leaf, i+1), 32), []PortID{port}})
		}
	}
	for other := 1; other <= f.Spec.Leaves; other++ {
		if other == n.Leaf {
			continue
		}
		for _, plane := range f.planes() {
			over := spines
			if plane != anySpine && plane != kernelNet {
				over = spines[plane-1 : plane]
			}
			routes = append(routes, Route{netip.PrefixFrom(addr(plane, other, 0), hostPrefix), over})
		}
	}
	return routes
}

func (f *Fabric) spineRoutes(n *Node) (routes []Route) {
	for leaf, port := range n.Ports {
		for _, plane := range []int{anySpine, n.Number, kernelNet} {
			routes = append(routes, Route{netip.PrefixFrom(addr(plane, leaf+1, 0), hostPrefix), []PortID{port}})
		}
	}
	return routes
}

// planes lists the second octets that lead to hosts.
func (f *Fabric) planes() []int {
	planes := []int{anySpine}
	for s := 1; s <= f.Spec.Spines; s++ {
		planes = append(planes, s)
	}
	return append(planes, kernelNet)
}
