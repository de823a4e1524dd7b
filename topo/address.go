package topo

import (
	"fmt"
	"strconv"
)

// Addresses here are the bytes that headers carry. They are not the types of net and
// net/netip because those packages must not be part of a host process: see package
// cmd/sirdbed/hostfirst.

// An Addr is an IPv4 address.
type Addr [4]byte

func (a Addr) String() string { return fmt.Sprintf("%d.%d.%d.%d", a[0], a[1], a[2], a[3]) }

// uint32 returns the address as a number, its first byte the most significant.
func (a Addr) uint32() uint32 {
	return uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
}

// A Prefix is a network: all addresses that begin with the first Bits bits of Addr.
// The other bits of Addr are 0.
type Prefix struct {
	Addr Addr
	Bits int // 0 to 32
}

// Contains reports whether a belongs to the network.
func (p Prefix) Contains(a Addr) bool {
	return (a.uint32()^p.Addr.uint32())>>(32-p.Bits) == 0
}

func (p Prefix) String() string { return fmt.Sprintf("%v/%d", p.Addr, p.Bits) }

// A MAC is an Ethernet address.
type MAC [6]byte

func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// ParseMAC reads an Ethernet address of six pairs of hexadecimal digits with colons
// between them.
func ParseMAC(text string) (m MAC, err error) {
	const length = 3*len(m) - 1
	for i := range m {
		pair := 3 * i
		if len(text) != length || i > 0 && text[pair-1] != ':' {
			return MAC{}, fmt.Errorf("%q is not a MAC address: want such as 52:54:00:12:34:56", text)
		}
		n, err := strconv.ParseUint(text[pair:pair+2], 16, 8)
		if err != nil {
			return MAC{}, fmt.Errorf("%q is not a MAC address: want such as 52:54:00:12:34:56", text)
		}
		m[i] = byte(n)
	}
	return m, nil
}

// Second octets of the address plan in the package comment. 1 to limit.MaxSpines
// pin a spine.
const (
	anySpine   = 0
	kernelNet  = 250
	leafNet    = 251
	spineNet   = 252
	hostPrefix = 24
)

func addr(plane, leaf, host int) Addr {
	return Addr{10, byte(plane), byte(leaf), byte(host)}
}

// HostAddr returns the address that leads to h over the given spine, counted
// from 1, or over any spine with 0.
func (f *Fabric) HostAddr(h HostID, spine int) Addr {
	n := &f.Nodes[h]
	return addr(spine, n.Leaf, n.Number)
}

// KernelAddr returns the address that h's kernel answers to.
func (f *Fabric) KernelAddr(h HostID) Addr { return f.HostAddr(h, kernelNet) }

// HostOf returns the host that an address of any plane leads to, and the spine that
// the address pins (0: any).
func (f *Fabric) HostOf(a Addr) (h HostID, spine int, ok bool) {
	leaf, number := int(a[2]), int(a[3])
	if a[0] != 10 || leaf < 1 || leaf > f.Spec.Leaves || number < 1 || number > f.Spec.HostsPerLeaf {
		return 0, 0, false
	}
	h = HostID((leaf-1)*f.Spec.HostsPerLeaf + number - 1)
	switch plane := int(a[1]); {
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
	Prefix Prefix
	Ports  []PortID
}

// Routes returns the forwarding table of a node.
func (f *Fabric) Routes(id NodeID) []Route {
	n := &f.Nodes[id]
	switch n.Kind {
	case Host:
		return []Route{{Prefix{addr(0, 0, 0), 8}, n.Ports}}
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
			routes = append(routes, Route{Prefix{addr(plane, n.Leaf, i+1), 32}, []PortID{port}})
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
			routes = append(routes, Route{Prefix{addr(plane, other, 0), hostPrefix}, over})
		}
	}
	return routes
}

func (f *Fabric) spineRoutes(n *Node) (routes []Route) {
	for leaf, port := range n.Ports {
		for _, plane := range []int{anySpine, n.Number, kernelNet} {
			routes = append(routes, Route{Prefix{addr(plane, leaf+1, 0), hostPrefix}, []PortID{port}})
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
