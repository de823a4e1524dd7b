package homa_test

import (
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Full packets: what they carry, and what they take on a link; and RTTbytes in
// whole packets.
const (
	mss    = 1446
	frame  = 1538
	window = 69 * mss
)

// rack is hosts under one switch, at 100 Gbps, with a grant loop just below the
// paper's BDP of 100 KB.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1900) }

// params are the defaults except for a loss timeout of 2 ms, which saves time.
func params(f *topo.Fabric, change func(*homa.Params)) *homa.Params {
	return modeltest.Params(homa.Protocol, f, func(p *homa.Params) {
		p.LossTimeout = 2 * units.Millisecond
		if change != nil {
			change(p)
		}
	})
}

func newSim(t testing.TB, c model.Config) *model.Sim {
	t.Helper()
	if c.Params == nil {
		c.Params = params(c.Fabric, nil)
	}
	return modeltest.Sim(t, homa.Protocol, c)
}

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *homa.Homa { return sim.Host(h).Transport().(*homa.Homa) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (homa.Header, bool) {
	if !modeltest.Leaving(f, e) {
		return homa.Header{}, false
	}
	return homa.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses matching packets at their senders, at
// most limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, homa.Header) bool) func(model.PacketEvent) bool {
	return modeltest.Loses(f, limit, homa.Parse, match)
}

// A core is a protocol alone, without an engine: tests hand it packets and take
// what it sends.
type core struct {
	*homa.Homa
	sink *modeltest.Sink
}

// newCore makes the protocol at a host.
func newCore(t testing.TB, f *topo.Fabric, self topo.HostID, p *homa.Params) core {
	t.Helper()
	env, sink := modeltest.Env(f, self)
	h, err := homa.New(env, p)
	if err != nil {
		t.Fatal(err)
	}
	return core{h, sink}
}

// next returns the next packet and its header, false if there is none.
func (c core) next(now units.Time) (transport.Packet, homa.Header, bool) {
	var p transport.Packet
	if !c.Next(now, &p) {
		return p, homa.Header{}, false
	}
	return p, homa.Parse(p.Header()), true
}

// get hands the core a packet.
func (c core) get(now units.Time, from topo.HostID, h homa.Header, payload int) {
	p := transport.Packet{Peer: from, PayloadLen: payload}
	h.Encode(&p)
	c.Receive(now, &p)
}
