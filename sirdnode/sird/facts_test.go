package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Full packets: payload and wire bytes.
const (
	mss   = 1442
	frame = 1538
)

// rack is hosts under one switch, at 100 Gbps, with a credit loop of just below
// the paper's BDP of 100 KB.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1900) }

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *sird.SIRD { return sim.Host(h).Transport().(*sird.SIRD) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (sird.Header, bool) {
	if !modeltest.Leaving(f, e) {
		return sird.Header{}, false
	}
	return sird.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses matching packets at their senders, and no more
// than limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, sird.Header) bool) func(model.PacketEvent) bool {
	return modeltest.Loses(f, limit, sird.Parse, match)
}

// A core is a protocol alone, without an engine: tests hand it packets and take
// what it sends.
type core struct {
	*sird.SIRD
	sink *modeltest.Sink
}

// newCore makes the protocol at a host.
func newCore(t testing.TB, f *topo.Fabric, self topo.HostID, p *sird.Params) core {
	t.Helper()
	env, sink := modeltest.Env(f, self)
	s, err := sird.New(env, p)
	if err != nil {
		t.Fatal(err)
	}
	return core{s, sink}
}

// next returns the header and the payload length of the next packet, false if
// there is none.
func (c core) next(now units.Time) (sird.Header, int, bool) {
	var p transport.Packet
	if !c.Next(now, &p) {
		return sird.Header{}, 0, false
	}
	return sird.Parse(p.Header()), p.PayloadLen, true
}

// get hands the core a packet.
func (c core) get(now units.Time, from topo.HostID, h sird.Header, payload int, ce bool) {
	p := transport.Packet{Peer: from, PayloadLen: payload, CE: ce}
	h.Encode(&p)
	c.Receive(now, &p)
}
