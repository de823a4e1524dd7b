package sird_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Full packets: what they carry, and what they take on a link.
const (
	mss   = 1442
	frame = 1538
)

// rack is hosts under one switch, at 100 Gbps, with a credit loop of just below
// the paper's BDP of 100 KB.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	return fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: 1900})
}

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *sird.SIRD { return sim.Host(h).Transport().(*sird.SIRD) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (sird.Header, bool) {
	if e.Kind != model.Transmitted || e.Port != f.Uplink(e.Src) {
		return sird.Header{}, false
	}
	return sird.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses the packets at their senders that match,
// and no more than limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, sird.Header) bool) func(model.PacketEvent) bool {
	return func(e model.PacketEvent) bool {
		if limit == 0 || e.Port != f.Uplink(e.Src) || !match(e, sird.Parse(e.Packet.Header())) {
			return false
		}
		limit--
		return true
	}
}

// allDone runs until all messages are acknowledged and nothing is under way,
// and fails the test if one was not delivered or credit leaked.
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

// noLeaks lets some timeouts pass, after which no credit may be left anywhere.
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
	*sird.SIRD
	sink *sink
}

// newCore makes the protocol at a host.
func newCore(t testing.TB, f *topo.Fabric, self topo.HostID, p *sird.Params) core {
	t.Helper()
	env := newEnv(f)
	env.Self = self
	s, err := sird.New(env, p)
	if err != nil {
		t.Fatal(err)
	}
	return core{s, env.Sink.(*sink)}
}

func newEnv(f *topo.Fabric) transport.Env {
	return transport.Env{Fabric: f, Sink: &sink{}, Rand: rand.New(rand.NewPCG(1, 1))}
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
