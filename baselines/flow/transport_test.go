package flow_test

import (
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// fixed is a Controller whose window and pacing a test sets.
type fixed struct {
	window   float64
	pacing   flow.Time
	acks     []flow.Ack
	keep     bool // acks
	messages int
	losses   []flow.Time
	timeouts []flow.Time
}

func (c *fixed) OnMessage(flow.Time) { c.messages++ }
func (c *fixed) OnAck(_ flow.Time, a flow.Ack) {
	if c.keep {
		c.acks = append(c.acks, a)
	}
}
func (c *fixed) OnLoss(now flow.Time)           { c.losses = append(c.losses, now) }
func (c *fixed) OnTimeout(now flow.Time, _ int) { c.timeouts = append(c.timeouts, now) }
func (c *fixed) Window() float64                { return c.window }
func (c *fixed) Pacing() flow.Time              { return c.pacing }

// config is the default of the tests: a pool of 40 and a window of 1 BDP.
func config(window float64, change func(*flow.Config)) *flow.Config {
	c := &flow.Config{
		Connections: 40, MinRTO: 200 * units.Microsecond, MaxTimeouts: 15, SegmentsPerAck: 1,
		Controller: func(transport.HostID) flow.Controller { return &fixed{window: window} },
	}
	if change != nil {
		change(c)
	}
	return c
}

// windowed is a protocol of fixed windows.
var windowed = transport.Protocol{
	Name:          "windowed",
	Wire:          wire.Protocol{Name: "windowed", Port: 47099, HeaderLen: flow.HeaderLen, Header: &flow.Headers},
	Framing:       flow.Framing,
	DefaultParams: func(*topo.Fabric) any { return config(66, nil) },
	Network:       func(*topo.Fabric, any) transport.Network { return transport.Network{Priorities: 1} },
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return flow.New(env, *params.(*flow.Config))
	},
}

// rack is hosts under one switch, with a round trip just below the paper's.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1750) }

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, windowed, c) }

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *flow.Transport {
	return sim.Host(h).Transport().(*flow.Transport)
}

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (flow.Header, bool) {
	if !modeltest.Leaving(f, e) {
		return flow.Header{}, false
	}
	return flow.Parse(e.Packet.Header()), true
}

// A core is the protocol alone, without an engine: tests hand it packets and
// take what it sends.
type core struct {
	*flow.Transport
	sink *modeltest.Sink
}

func newCore(t testing.TB, f *topo.Fabric, c *flow.Config) core {
	env, k := modeltest.Env(f, 0)
	x, err := flow.New(env, *c)
	if err != nil {
		t.Fatal(err)
	}
	return core{x, k}
}

// next returns the header of the next packet, false if there is none.
func (c core) next(now units.Time) (flow.Header, bool) {
	var p transport.Packet
	if !c.Next(now, &p) {
		return flow.Header{}, false
	}
	return flow.Parse(p.Header()), true
}

// get hands the core a packet of host 1.
func (c core) get(now units.Time, h flow.Header, payload int, ce bool) {
	p := transport.Packet{Peer: 1, PayloadLen: payload, CE: ce, Arrived: now}
	h.Encode(&p)
	c.Receive(now, &p)
}
