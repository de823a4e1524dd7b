package sird_test

import (
	"fmt"
	"testing"

	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// busyHost is a host with messages from and to each of its peers. It has granted all of B, and
// waits for credit from all peers, so that Next has nothing to send.
func busyHost(t testing.TB, peers int) core {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 4, HostsPerLeaf: (peers + 4) / 4, Spines: 2, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
	s := newCore(t, f, 0, params(f, func(p *sird.Params) { p.LossTimeout = 10 * units.Second }))
	for h := topo.HostID(1); int(h) <= peers; h++ {
		s.Send(0, transport.Message{Peer: h, Size: 1_000_000})
		s.get(0, h, sird.Header{Kind: "DATA", Request: true, Length: 1_000_000 + uint32(h)}, 0, false)
	}
	for now := units.Time(0); now < 100*units.Microsecond; now += 123 {
		for _, _, ok := s.next(now); ok; _, _, ok = s.next(now) {
		}
	}
	return s
}

// BenchmarkNext measures what a look for something to send costs when there is nothing, and
// what a packet costs, with messages from and to as many peers.
func BenchmarkNext(b *testing.B) {
	for _, peers := range []int{10, 143, 999} {
		now := 100 * units.Microsecond
		b.Run(fmt.Sprintf("idle/%d", peers), func(b *testing.B) {
			s := busyHost(b, peers)
			var p transport.Packet
			for b.Loop() {
				if s.Next(now, &p) {
					b.Fatal("something to send")
				}
			}
		})
		b.Run(fmt.Sprintf("packet/%d", peers), func(b *testing.B) {
			s := busyHost(b, peers)
			var p transport.Packet
			granted := map[topo.HostID]uint32{}
			at := now
			peer := topo.HostID(1)
			for b.Loop() {
				// A CREDIT makes room for one packet, which is sent.
				at += 200
				granted[peer] += frame
				s.get(at, peer, sird.Header{Kind: "CREDIT", Credit: granted[peer]}, 0, false)
				for s.Next(at, &p) {
				}
				if peer++; int(peer) > peers {
					peer = 1
				}
			}
		})
	}
}
