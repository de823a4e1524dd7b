package modeltest

import (
	"fmt"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Params returns a protocol's default parameters for a fabric, changed.
func Params[P any](protocol transport.Protocol, f *topo.Fabric, change func(*P)) *P {
	p := protocol.DefaultParams(f).(*P)
	if change != nil {
		change(p)
	}
	return p
}

// Sim makes a simulation of a protocol.
func Sim(t testing.TB, protocol transport.Protocol, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = protocol
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// Leaving reports that a packet leaves its sender.
func Leaving(f *topo.Fabric, e model.PacketEvent) bool {
	return e.Kind == model.Transmitted && e.Port == f.Uplink(e.Src)
}

// Loses makes a Config.Lose that loses the packets at their senders that match,
// and no more than limit of them. parse reads a header.
func Loses[H any](f *topo.Fabric, limit int, parse func([]byte) H,
	match func(model.PacketEvent, H) bool) func(model.PacketEvent) bool {
	return func(e model.PacketEvent) bool {
		if limit == 0 || e.Port != f.Uplink(e.Src) || !match(e, parse(e.Packet.Header())) {
			return false
		}
		limit--
		return true
	}
}

// Counted is the sum of a counter over all hosts.
func Counted(f *topo.Fabric, sim *model.Sim, name string) (sum int64) {
	for _, h := range f.Hosts {
		sum += sim.Host(h).Counter(name)
	}
	return sum
}

// RateOf is the rate that carries b bytes in t, 0 when t is not positive.
func RateOf(b units.Bytes, t units.Time) units.BitsPerSecond {
	if t <= 0 {
		return 0
	}
	return units.BitsPerSecond(float64(b) * 8 / t.Seconds())
}

// AllDone runs until all messages are acknowledged, and fails the test if one
// was not delivered by limit or a host does not come to rest.
func AllDone(t *testing.T, f *topo.Fabric, sim *model.Sim, limit units.Time) {
	t.Helper()
	if !sim.RunUntilDone(limit) {
		t.Fatalf("not done at %v: %s", limit, Undone(sim))
	}
	if err := delivered(sim); err != nil {
		t.Fatal(err)
	}
	Idle(t, f, sim)
}

// Idle lets some timeouts pass, after which no host may keep anything, by its
// transport's method Idle, if it has one.
func Idle(t *testing.T, f *topo.Fabric, sim *model.Sim) {
	t.Helper()
	sim.Run(sim.Now() + rest)
	if err := idle(f, sim); err != nil {
		t.Error(err)
	}
}

// rest is how long hosts are given to come to rest: several times what any
// protocol waits for an answer by default.
const rest = 100 * units.Millisecond

func idle(f *topo.Fabric, sim *model.Sim) error {
	return eachHost(f, sim, func(t transport.Transport) error {
		if t, ok := t.(interface{ Idle() error }); ok {
			return t.Idle()
		}
		return nil
	})
}

func eachHost(f *topo.Fabric, sim *model.Sim, check func(transport.Transport) error) error {
	for _, h := range f.Hosts {
		if err := check(sim.Host(h).Transport()); err != nil {
			return fmt.Errorf("%s: %w", f.HostName(h), err)
		}
	}
	return nil
}

// delivered returns an error if a message was not delivered and acknowledged
// just once, with the right bytes.
func delivered(sim *model.Sim) error {
	for _, m := range sim.Messages() {
		if m.Delivered == units.Never || m.Acked == units.Never || m.Failed != units.Never {
			return fmt.Errorf("message %+v", m)
		}
	}
	if c := sim.Totals().Counts; c.Delivered != c.Offered || c.Acked != c.Offered || c.Mismatches != 0 {
		return fmt.Errorf("%+v", c)
	}
	return nil
}

// Undone lists the messages that are not acknowledged.
func Undone(sim *model.Sim) (s string) {
	for _, m := range sim.Messages() {
		if m.Acked == units.Never {
			s += fmt.Sprintf("%+v ", m)
		}
	}
	return s
}
