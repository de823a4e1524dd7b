package xpass_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// mss is what a full packet carries with an MTU of 1500.
const mss = 1438

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

// rack is hosts under one switch, at 100 Gbps.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	return fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: 1250})
}

func params(f *topo.Fabric, change func(*xpass.Params)) *xpass.Params {
	p := xpass.Protocol.DefaultParams(f).(*xpass.Params)
	if change != nil {
		change(p)
	}
	return p
}

func newSim(t testing.TB, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = xpass.Protocol
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *xpass.XPass { return sim.Host(h).Transport().(*xpass.XPass) }

// allDone runs until all messages are acknowledged, and fails the test if one
// was not delivered or something is kept.
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

// noLeaks lets some time pass, after which nothing may be kept anywhere.
func noLeaks(t *testing.T, f *topo.Fabric, sim *model.Sim) {
	t.Helper()
	sim.Run(sim.Now() + 10*units.Millisecond)
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

func newEnv(f *topo.Fabric) transport.Env {
	return transport.Env{Fabric: f, Sink: &sink{}, Rand: rand.New(rand.NewPCG(1, 1))}
}

// sink counts what a protocol tells.
type sink struct{ data, delivered, acked, failed int }

func (k *sink) Data(_ units.Time, _ transport.Message, _ units.Bytes, n int, _ []byte) { k.data += n }
func (k *sink) Delivered(units.Time, transport.Message)                                { k.delivered++ }
func (k *sink) Acked(units.Time, transport.Message)                                    { k.acked++ }
func (k *sink) Failed(units.Time, transport.Message, string)                           { k.failed++ }
func (k *sink) Gauge(string, func() float64)                                           {}
func (k *sink) Count(*transport.Counter, int)                                          {}
