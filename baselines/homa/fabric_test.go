package homa_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
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

// small is a fabric of two racks that is quick to simulate.
var small = topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

func fabric(t testing.TB, s topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rack is hosts under one switch, at 100 Gbps, with a grant loop of just below
// the paper's BDP of 100 KB.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	return fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: 1900})
}

// params are the defaults, but for a loss timeout of 2 ms, which saves time.
func params(f *topo.Fabric, change func(*homa.Params)) *homa.Params {
	p := homa.Protocol.DefaultParams(f).(*homa.Params)
	p.LossTimeout = 2 * units.Millisecond
	if change != nil {
		change(p)
	}
	return p
}

func newSim(t testing.TB, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = homa.Protocol
	if c.Params == nil {
		c.Params = params(c.Fabric, nil)
	}
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *homa.Homa { return sim.Host(h).Transport().(*homa.Homa) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (homa.Header, bool) {
	if e.Kind != model.Transmitted || e.Port != f.Uplink(e.Src) {
		return homa.Header{}, false
	}
	return homa.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses the packets at their senders that match,
// and no more than limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, homa.Header) bool) func(model.PacketEvent) bool {
	return func(e model.PacketEvent) bool {
		if limit == 0 || e.Port != f.Uplink(e.Src) || !match(e, homa.Parse(e.Packet.Header())) {
			return false
		}
		limit--
		return true
	}
}

// allDone runs until all messages are acknowledged and fails the test if one was
// not delivered or any state is left.
func allDone(t *testing.T, f *topo.Fabric, sim *model.Sim, limit units.Time) {
	t.Helper()
	if !sim.RunUntilDone(limit) {
		t.Fatalf("not done at %v: %s", limit, undone(sim))
	}
	for _, m := range sim.Messages() {
		if m.Delivered == units.Never || m.Failed != units.Never {
			t.Fatalf("%+v", m)
		}
	}
	noLeaks(t, f, sim)
}

// noLeaks lets some timeouts pass, after which no state may be left.
func noLeaks(t *testing.T, f *topo.Fabric, sim *model.Sim) {
	t.Helper()
	sim.Run(sim.Now() + 100*units.Millisecond)
	for _, h := range f.Hosts {
		if leak := at(sim, h).Leaks(); leak != "" {
			t.Errorf("%s: %s", f.HostName(h), leak)
		}
	}
}

// counted is the sum of a counter over all hosts.
func counted(f *topo.Fabric, sim *model.Sim, name string) (sum int64) {
	for _, h := range f.Hosts {
		sum += sim.Host(h).Counter(name)
	}
	return sum
}

// A core is a protocol alone, without an engine: tests hand it packets and take
// what it sends.
type core struct {
	*homa.Homa
	sink *sink
}

// newCore makes the protocol at a host.
func newCore(t testing.TB, f *topo.Fabric, self topo.HostID, p *homa.Params) core {
	t.Helper()
	env := newEnv(f)
	env.Self = self
	h, err := homa.New(env, p)
	if err != nil {
		t.Fatal(err)
	}
	return core{h, env.Sink.(*sink)}
}

func newEnv(f *topo.Fabric) transport.Env {
	return transport.Env{Fabric: f, Sink: &sink{}, Rand: rand.New(rand.NewPCG(1, 1))}
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

// sink counts what a core tells.
type sink struct {
	data                     int64
	delivered, acked, failed int
	reason                   string
}

func (k *sink) Data(_ units.Time, _ transport.Message, _ units.Bytes, n int, _ []byte) {
	k.data += int64(n)
}
func (k *sink) Delivered(units.Time, transport.Message) { k.delivered++ }
func (k *sink) Acked(units.Time, transport.Message)     { k.acked++ }
func (k *sink) Failed(_ units.Time, _ transport.Message, reason string) {
	k.failed, k.reason = k.failed+1, reason
}
func (k *sink) Gauge(string, func() float64)  {}
func (k *sink) Count(*transport.Counter, int) {}
