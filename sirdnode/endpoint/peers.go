//go:build linux

package endpoint

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// Peers are those that an endpoint exchanges packets with, in place of a fabric's address
// plan: a node.Reach. Each has a HostID of this endpoint's own choice; payloads tell hosts
// apart by their addresses, so ends need not agree on IDs.
//
// One goroutine changes them, others may read meanwhile.
type peers struct {
	self    topo.HostID
	address [4]byte
	mac     topo.MAC
	list    atomic.Pointer[peerList]
}

// A peerList is not changed any more once it is in use.
type peerList struct {
	hosts  []peer // by HostID
	byAddr map[[4]byte]topo.HostID
}

type peer struct {
	address [4]byte
	mac     topo.MAC // of the next hop
	live    bool
}

func newPeers(self topo.HostID, own netip.Addr, mac topo.MAC) *peers {
	p := &peers{self: self, address: own.As4(), mac: mac}
	p.list.Store(&peerList{})
	return p
}

// add makes an address known as a host. Whoever had the address before is not reached any
// more: a process that starts again begins anew.
func (p *peers) add(h topo.HostID, address netip.Addr, mac topo.MAC) {
	p.change(func(l *peerList) {
		for int(h) >= len(l.hosts) {
			l.hosts = append(l.hosts, peer{})
		}
		a := address.As4()
		if before, ok := l.byAddr[a]; ok {
			l.hosts[before].live = false
		}
		l.hosts[h] = peer{a, mac, true}
		l.byAddr[a] = h
	})
}

// remove has a host sent nothing more, and what comes from it dropped.
func (p *peers) remove(h topo.HostID) {
	p.change(func(l *peerList) {
		gone := &l.hosts[h]
		gone.live = false
		if l.byAddr[gone.address] == h {
			delete(l.byAddr, gone.address)
		}
	})
}

func (p *peers) change(how func(*peerList)) {
	old := p.list.Load()
	l := &peerList{slices.Clone(old.hosts), maps.Clone(old.byAddr)}
	if l.byAddr == nil {
		l.byAddr = map[[4]byte]topo.HostID{}
	}
	how(l)
	p.list.Store(l)
}

// Own implements node.Reach.
func (p *peers) Own(f *wire.Frame) { f.SrcMAC, f.SrcAddr = p.mac, p.address }

// To implements node.Reach.
func (p *peers) To(f *wire.Frame, h topo.HostID, _ int) bool {
	l := p.list.Load()
	if int(h) >= len(l.hosts) || !l.hosts[h].live {
		return false
	}
	f.DstAddr, f.DstMAC = l.hosts[h].address, l.hosts[h].mac
	return true
}

// From implements node.Reach.
func (p *peers) From(src, dst [4]byte) (topo.HostID, int, bool) {
	if dst != p.address {
		return 0, 0, false
	}
	h, ok := p.list.Load().byAddr[src]
	return h, 0, ok
}

// Number implements node.Reach: an address, as a number.
func (p *peers) Number(h topo.HostID) topo.HostID {
	a := p.address
	if l := p.list.Load(); h != p.self && int(h) < len(l.hosts) {
		a = l.hosts[h].address
	}
	return topo.HostID(binary.BigEndian.Uint32(a[:]))
}
