package dcpim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
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
// each link, 100 Gbps hosts, 400 Gbps core (protocols.md section 5).
var released = topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 650, CoreDelay: 650}

// small is a fabric of two racks that is quick to simulate.
var small = topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// rack is hosts under one switch, as far apart as in the released fabric.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	return fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: 1300})
}

func fabric(t testing.TB, s topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func params(f *topo.Fabric, change func(*dcpim.Params)) *dcpim.Params {
	p := dcpim.Protocol.DefaultParams(f).(*dcpim.Params)
	if change != nil {
		change(p)
	}
	return p
}

func newSim(t testing.TB, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = dcpim.Protocol
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *dcpim.DCPIM { return sim.Host(h).Transport().(*dcpim.DCPIM) }

// leavesHost reports that a packet leaves its sender, and parses it.
func leavesHost(f *topo.Fabric, e model.PacketEvent) (dcpim.Header, bool) {
	if e.Kind != model.Transmitted || e.Port != f.Uplink(e.Src) {
		return dcpim.Header{}, false
	}
	return dcpim.Parse(e.Packet.Header()), true
}

// loses makes a Config.Lose that loses the packets at their senders that match,
// and no more than limit of them.
func loses(f *topo.Fabric, limit int, match func(model.PacketEvent, dcpim.Header) bool) func(model.PacketEvent) bool {
	return func(e model.PacketEvent) bool {
		if limit == 0 || e.Port != f.Uplink(e.Src) || !match(e, dcpim.Parse(e.Packet.Header())) {
			return false
		}
		limit--
		return true
	}
}

// allDone runs until all messages are acknowledged and nothing is under way,
// and fails the test if one was not delivered or something is left.
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

// noLeaks lets some timeouts pass, after which nothing may be left anywhere.
func noLeaks(t *testing.T, f *topo.Fabric, sim *model.Sim) {
	t.Helper()
	sim.Run(sim.Now() + 100*units.Millisecond)
	for _, h := range f.Hosts {
		if leak := at(sim, h).Leaks() + at(sim, h).Broken(); leak != "" {
			t.Errorf("%s: %s", f.HostName(h), leak)
		}
	}
}

func undone(sim *model.Sim) (s string) {
	for _, m := range sim.Messages() {
		if m.Acked == units.Never {
			s += fmt.Sprintf("%+v ", m)
		}
	}
	return s
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
	*dcpim.DCPIM
	sink *sink
}

// newCore makes the protocol at host 0, with default parameters.
func newCore(t testing.TB, f *topo.Fabric) core { return newSeededCore(t, f, 1) }

func newSeededCore(t testing.TB, f *topo.Fabric, seed uint64) core {
	t.Helper()
	env := newEnv(f)
	env.Rand = rand.New(rand.NewPCG(seed, 1))
	s, err := dcpim.New(env, params(f, nil))
	if err != nil {
		t.Fatal(err)
	}
	return core{s, env.Sink.(*sink)}
}

func newEnv(f *topo.Fabric) transport.Env {
	return transport.Env{Fabric: f, Sink: &sink{}, Rand: rand.New(rand.NewPCG(1, 1))}
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
