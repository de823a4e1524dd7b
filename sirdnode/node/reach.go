//go:build linux

package node

import (
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// A Reach says who is where: how frames get from this host to others, and from whom
// those are that arrive.
type Reach interface {
	// Own fills in this host's own addresses.
	Own(f *wire.Frame)
	// To fills in the addresses of another host, over a spine (0: any). It reports false
	// for one that cannot be reached any more.
	To(f *wire.Frame, h topo.HostID, spine int) bool
	// From returns the other host that a frame to this one came from, and the spine that its
	// addresses pin. ok is false for frames from nobody known, or for somebody else.
	From(src, dst [4]byte) (h topo.HostID, spine int, ok bool)
	// Number is by what payloads tell hosts apart (host.Config).
	Number(h topo.HostID) topo.HostID
}

// inFabric is the Reach of a host within a fabric: its address plan has all that there is.
type inFabric struct {
	fabric *topo.Fabric
	self   topo.HostID
	cable  *Cable // nil: a link of the fabric's
}

func (r inFabric) Own(f *wire.Frame) {
	uplink := r.fabric.Uplink(r.self)
	f.SrcMAC, f.DstMAC = uplink.MAC, r.fabric.Ports[uplink.Reverse].MAC
	if r.cable != nil {
		f.SrcMAC, f.DstMAC = r.cable.Own, r.cable.Leaf
	}
	f.SrcAddr = r.fabric.HostAddr(r.self, 0)
}

func (r inFabric) To(f *wire.Frame, h topo.HostID, spine int) bool {
	f.DstAddr = r.fabric.HostAddr(h, spine)
	return true
}

func (r inFabric) From(src, dst [4]byte) (topo.HostID, int, bool) {
	from, _, known := r.fabric.HostOf(src)
	to, spine, ok := r.fabric.HostOf(dst)
	return from, spine, known && ok && to == r.self && from != r.self
}

func (r inFabric) Number(h topo.HostID) topo.HostID { return h }
