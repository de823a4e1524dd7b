package model

import (
	"math/bits"

	"sirdbed/topo"
)

// routes finds a packet's next port. A leaf takes it down if the host is its
// own; else over the spine that the packet names, or over the one that a hash of
// what Linux's layer-4 policy hashes (both hosts, the source port that stands
// for entropy, the protocol's port) falls on.
type routes struct {
	leafOf []int32         // by host, from 0
	down   []topo.PortID   // by host
	up     [][]topo.PortID // by leaf, then spine
	fan    [][]topo.PortID // by spine, then leaf
	hosts  int
	leaves int
	port   uint64
	seed   uint64
	spines uint64
}

func newRoutes(f *topo.Fabric, cfg Config) routes {
	r := routes{
		hosts: len(f.Hosts), leaves: f.Spec.Leaves, spines: uint64(f.Spec.Spines),
		port: uint64(cfg.Protocol.Wire.Port), seed: mix(cfg.Seed + 0x5f4dcc3b5aa765d6),
	}
	for h := range f.Hosts {
		r.leafOf = append(r.leafOf, int32(f.Nodes[h].Leaf-1))
		r.down = append(r.down, f.Downlink(topo.HostID(h)).ID)
	}
	for l := range f.Spec.Leaves {
		r.up = append(r.up, f.Nodes[r.hosts+l].Ports[f.Spec.HostsPerLeaf:])
	}
	for s := range f.Spec.Spines {
		r.fan = append(r.fan, f.Nodes[r.hosts+r.leaves+s].Ports)
	}
	return r
}

// next returns the port that a packet leaves a switch through.
func (r *routes) next(at int, p *packet) topo.PortID {
	leaf := at - r.hosts
	to := int(r.leafOf[p.dst])
	if leaf >= r.leaves {
		return r.fan[leaf-r.leaves][to]
	}
	if leaf == to {
		return r.down[p.dst]
	}
	if p.Spine > 0 {
		return r.up[leaf][p.Spine-1]
	}
	spine, _ := bits.Mul64(r.hash(p), r.spines)
	return r.up[leaf][spine]
}

func (r *routes) hash(p *packet) uint64 {
	return mix(r.seed ^ (uint64(p.src)<<48 | uint64(p.dst)<<32 | uint64(p.source)<<16 | r.port))
}

// mix is the finalizer of splitmix64: each bit of the input changes half of the
// output's.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
