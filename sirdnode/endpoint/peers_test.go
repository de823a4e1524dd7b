//go:build linux

package endpoint

import (
	"net/netip"
	"testing"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

func TestPeersAreReachedByTheirAddresses(t *testing.T) {
	own, a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")
	p := newPeers(0, own, topo.MAC{2, 1})
	router := topo.MAC{2, 9}
	p.add(1, a, router)
	p.add(2, b, router)
	check := func(what string, h topo.HostID, to netip.Addr, reached, known bool) {
		t.Helper()
		var f wire.Frame
		p.Own(&f)
		if got := p.To(&f, h, 0); got != reached {
			t.Errorf("%s: host %d is reached: %v, want %v", what, h, got, reached)
		}
		if reached && (f.DstAddr != to.As4() || f.DstMAC != router || f.SrcAddr != own.As4() || f.SrcMAC != p.mac) {
			t.Errorf("%s: frame %+v", what, f)
		}
		from, _, ok := p.From(to.As4(), own.As4())
		if ok != known || ok && from != h {
			t.Errorf("%s: %v is host %d, %v; want %d, %v", what, to, from, ok, h, known)
		}
	}
	check("in the beginning", 1, a, true, true)
	check("in the beginning", 2, b, true, true)
	check("nobody", 3, own, false, false)
	if _, _, ok := p.From(a.As4(), b.As4()); ok {
		t.Error("a frame to somebody else is taken")
	}
	// A process that starts again is another host, and the old one is dead.
	p.add(3, a, router)
	check("started again", 3, a, true, true)
	if p.To(&wire.Frame{}, 1, 0) {
		t.Error("the host that had the address before is still reached")
	}
	p.remove(1) // its session ends late
	check("after that", 3, a, true, true)
	p.remove(3)
	check("gone", 3, a, false, false)
	check("gone", 2, b, true, true)
}

// Both ends must number one another alike, whatever their own IDs.
func TestNumbersAreAlikeAtBothEnds(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("192.168.7.2")
	at, there := newPeers(0, a, topo.MAC{}), newPeers(0, b, topo.MAC{})
	at.add(1, b, topo.MAC{})
	there.add(7, a, topo.MAC{})
	if at.Number(0) != there.Number(7) || at.Number(1) != there.Number(0) || at.Number(0) == at.Number(1) {
		t.Errorf("%x and %x here, %x and %x there", at.Number(0), at.Number(1), there.Number(7), there.Number(0))
	}
}
