package topo

import (
	"fmt"

	"sirdbed/topo/units"
)

// NodeID, HostID and PortID index Fabric.Nodes, Fabric.Hosts and Fabric.Ports.
// Hosts come first among the nodes, so HostID h is also NodeID h; then leaves,
// then spines.
type (
	NodeID int
	HostID int
	PortID int
)

// Kind is a node's role.
type Kind uint8

// The three kinds of node.
const (
	Host Kind = iota
	Leaf
	Spine
)

func (k Kind) String() string { return [...]string{"host", "leaf", "spine"}[k] }

// A Node is a host or a switch.
type Node struct {
	ID     NodeID
	Kind   Kind
	Name   string
	Leaf   int      // number of the leaf (of a host: its leaf), from 1; 0 for a spine
	Number int      // number within its kind (of a host: within its leaf), from 1
	Addr   Addr     // 10.0.L.H for a host
	Ports  []PortID // egress ports, in order: a leaf's hosts first, then its spines
}

// A Port is one direction of a link: the egress at Node towards Peer.
type Port struct {
	ID      PortID
	Node    NodeID
	Peer    NodeID
	Reverse PortID // the port at Peer towards Node
	Name    string // "leaf1>h1-3"
	Iface   string // interface name at Node: the peer's name
	MAC     MAC
	Rate    units.BitsPerSecond
	Delay   units.Time // one-way propagation
	Core    bool       // a leaf-spine link
}

// A Fabric is a validated Spec worked out in full.
type Fabric struct {
	Spec  Spec // with defaults filled in
	Nodes []Node
	Hosts []HostID
	Ports []Port

	byName map[string]NodeID
	loop   units.Time  // the longest credit loop
	bdp    units.Bytes // of the receiver whose downlink carries the most in its loops

	measured Loop
}

// New makes the fabric of a Spec. The error is a *SpecError.
func New(spec Spec) (*Fabric, error) {
	if spec.MTU == 0 {
		spec.MTU = 1500
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	hosts, switches := spec.Leaves*spec.HostsPerLeaf, spec.Leaves+spec.Spines
	f := &Fabric{
		Spec:   spec,
		Nodes:  make([]Node, 0, hosts+switches),
		Hosts:  make([]HostID, 0, hosts),
		Ports:  make([]Port, 0, 2*(hosts+spec.Leaves*spec.Spines)),
		byName: make(map[string]NodeID, hosts+switches),
	}
	for l := 1; l <= spec.Leaves; l++ {
		for h := 1; h <= spec.HostsPerLeaf; h++ {
			f.Hosts = append(f.Hosts, HostID(len(f.Nodes)))
			f.addNode(Host, fmt.Sprintf("h%d-%d", l, h), l, h, addr(anySpine, l, h))
		}
	}
	for l := 1; l <= spec.Leaves; l++ {
		f.addNode(Leaf, fmt.Sprintf("leaf%d", l), l, l, addr(leafNet, 0, l))
	}
	for s := 1; s <= spec.Spines; s++ {
		f.addNode(Spine, fmt.Sprintf("spine%d", s), 0, s, addr(spineNet, 0, s))
	}
	for h := range f.Hosts {
		f.addLink(NodeID(h), f.LeafOf(HostID(h)), spec.HostRate, spec.HostDelay, false)
	}
	for l := 1; l <= spec.Leaves; l++ {
		for s := 1; s <= spec.Spines; s++ {
			f.addLink(f.leaf(l), f.spine(s), spec.CoreRate, spec.CoreDelay, true)
		}
	}
	if err := f.override(spec.Links); err != nil {
		return f, err
	}
	f.addLoops()
	return f, nil
}

func (f *Fabric) addNode(kind Kind, name string, leaf, number int, a Addr) {
	id := NodeID(len(f.Nodes))
	f.Nodes = append(f.Nodes, Node{ID: id, Kind: kind, Name: name, Leaf: leaf, Number: number, Addr: a})
	f.byName[name] = id
}

func (f *Fabric) addLink(a, b NodeID, rate units.BitsPerSecond, delay units.Time, core bool) {
	forth, back := PortID(len(f.Ports)), PortID(len(f.Ports)+1)
	for _, p := range []Port{{ID: forth, Reverse: back, Node: a, Peer: b}, {ID: back, Reverse: forth, Node: b,
		Peer: a}} {
		n := &f.Nodes[p.Node]
		ip := n.Addr
		p.MAC = MAC{2, byte(len(n.Ports)), ip[0], ip[1], ip[2], ip[3]}
		p.Iface = f.Nodes[p.Peer].Name
		p.Name = n.Name + ">" + p.Iface
		p.Rate, p.Delay, p.Core = rate, delay, core
		n.Ports = append(n.Ports, p.ID)
		f.Ports = append(f.Ports, p)
	}
}

func (f *Fabric) override(links []LinkOverride) error {
	for i, o := range links {
		field := fmt.Sprintf("links[%d]", i)
		var ends [2]NodeID
		for j, name := range o.Between {
			n, ok := f.Node(name)
			if !ok {
				return specError(field+".between",
					"no node is called %q: hosts are h1-1 to h%d-%d, switches leaf1 and spine1 onwards",
					name, f.Spec.Leaves, f.Spec.HostsPerLeaf)
			}
			ends[j] = n.ID
		}
		p, ok := f.PortBetween(ends[0], ends[1])
		if !ok {
			return specError(field+".between", "no link joins %s and %s", o.Between[0], o.Between[1])
		}
		for _, id := range []PortID{p, f.Ports[p].Reverse} {
			if o.Rate != nil {
				f.Ports[id].Rate = *o.Rate
			}
			if o.Delay != nil {
				f.Ports[id].Delay = *o.Delay
			}
		}
	}
	return nil
}

func (f *Fabric) leaf(number int) NodeID { return NodeID(len(f.Hosts) + number - 1) }

func (f *Fabric) spine(number int) NodeID {
	return NodeID(len(f.Hosts) + f.Spec.Leaves + number - 1)
}

// LeafOf returns the leaf that h is attached to.
func (f *Fabric) LeafOf(h HostID) NodeID { return f.leaf(int(h)/f.Spec.HostsPerLeaf + 1) }

// Node finds a node by name.
func (f *Fabric) Node(name string) (*Node, bool) {
	id, ok := f.byName[name]
	if !ok {
		return nil, false
	}
	return &f.Nodes[id], true
}

// Host finds a host by name.
func (f *Fabric) Host(name string) (HostID, bool) {
	n, ok := f.Node(name)
	if !ok || n.Kind != Host {
		return 0, false
	}
	return HostID(n.ID), true
}

// HostName is the name of h.
func (f *Fabric) HostName(h HostID) string { return f.Nodes[h].Name }

// PortBetween returns the port at a towards b.
func (f *Fabric) PortBetween(a, b NodeID) (PortID, bool) {
	for _, p := range f.Nodes[a].Ports {
		if f.Ports[p].Peer == b {
			return p, true
		}
	}
	return 0, false
}

// Uplink returns the host's own egress port.
func (f *Fabric) Uplink(h HostID) *Port { return &f.Ports[f.Nodes[h].Ports[0]] }

// Downlink returns the leaf's port towards the host.
func (f *Fabric) Downlink(h HostID) *Port { return &f.Ports[f.Uplink(h).Reverse] }
