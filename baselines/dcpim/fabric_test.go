package dcpim_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Full packets: what they carry, and what they take on a link.
const (
	mss   = 1444
	frame = 1538
)

// released is the fabric of the released simulator: 0.65 us of propagation on
// each link, 100 Gbps hosts, 400 Gbps core (README, Parameters).
var released = topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 650, CoreDelay: 650}

// rack is hosts under one switch, as far apart as in the released fabric.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1300) }

func params(f *topo.Fabric, change func(*dcpim.Params)) *dcpim.Params {
	return modeltest.Params(dcpim.Protocol, f, change)
}

// withoutPromptLinks lets data wait for the data phase of its matching.
func withoutPromptLinks(p *dcpim.Params) { p.PromptLinks = false }

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, dcpim.Protocol, c) }

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *dcpim.DCPIM { return sim.Host(h).Transport().(*dcpim.DCPIM) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (dcpim.Header, bool) {
	if !modeltest.Leaving(f, e) {
		return dcpim.Header{}, false
	}
	return dcpim.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses matching packets at their senders, at
// most limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, dcpim.Header) bool) func(model.PacketEvent) bool {
	return modeltest.Loses(f, limit, dcpim.Parse, match)
}

// A core is a protocol alone, without an engine: tests hand it packets and take
// what it sends.
type core struct {
	*dcpim.DCPIM
	sink *modeltest.Sink
}

// newCore makes the protocol at host 0, with default parameters.
func newCore(t testing.TB, f *topo.Fabric) core { return newSeededCore(t, f, 1) }

func newSeededCore(t testing.TB, f *topo.Fabric, seed uint64) core {
	return newChangedCore(t, f, seed, nil)
}

func newChangedCore(t testing.TB, f *topo.Fabric, seed uint64, change func(*dcpim.Params)) core {
	t.Helper()
	env, sink := modeltest.Env(f, 0)
	env.Rand = rand.New(rand.NewPCG(seed, 1))
	s, err := dcpim.New(env, params(f, change))
	if err != nil {
		t.Fatal(err)
	}
	return core{s, sink}
}

// A sent is a packet that a core wanted to send.
type sent struct {
	dcpim.Header
	To      topo.HostID
	Payload int
}

// all returns the packets that a core sends at now.
func (c core) all(now units.Time) (list []sent) {
	var p transport.Packet
	for c.Next(now, &p) {
		list = append(list, sent{dcpim.Parse(p.Header()), p.Peer, p.PayloadLen})
		p = transport.Packet{}
	}
	return list
}

// get hands the core a packet.
func (c core) get(now units.Time, from topo.HostID, h dcpim.Header, payload int) {
	p := transport.Packet{Peer: from, PayloadLen: payload}
	h.Encode(&p)
	c.Receive(now, &p)
}
