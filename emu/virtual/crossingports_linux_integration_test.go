//go:build linux

package virtual

import (
	"context"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A port whose link leads to another guest does what one within a guest does: it marks,
// drops, keeps classes apart, paces credit and its rate, packet by packet. A core slower
// than the hosts has all queues at such ports; every message ends when it does in one guest.
func TestPortsOfCrossingLinks(t *testing.T) {
	private(t)
	for _, c := range []struct {
		protocol string
		limit    units.Bytes
		of       func(emu.PortFacts) int64 // what is to happen there
	}{
		{"dctcp", 0, func(p emu.PortFacts) int64 { return p.Marks }},
		{"swift", 30_000, func(p emu.PortFacts) int64 { return p.Drops }},
		{"xpass", 0, func(p emu.PortFacts) int64 { return p.CreditDrops }},
		{"homa", 60_000, func(p emu.PortFacts) int64 { return p.Drops }},
		{"sird", 0, func(p emu.PortFacts) int64 { return p.Marks }},
	} {
		t.Run(c.protocol, func(t *testing.T) {
			x := slowCore(c.protocol, c.limit)
			one, two := crossed(t, x, 1), crossed(t, x, 2)
			happened := int64(0)
			for i, p := range one.facts.Ports {
				q := two.facts.Ports[i]
				happened += c.of(p)
				if q.Name != p.Name || q.Packets != p.Packets || q.WireBytes != p.WireBytes || q.Marks != p.Marks ||
					q.Drops != p.Drops || q.CreditDrops != p.CreditDrops {
					t.Errorf("by 2 guests %+v, by one %+v", q, p)
				}
			}
			if happened == 0 {
				t.Error("nothing was marked or dropped: this shows nothing")
			}
			sameMessages(t, one, two)
		})
	}
}

// sameMessages checks that what happened to messages by 2 guests did by one, within 1 ns.
func sameMessages(t *testing.T, one, two crossedRun) {
	t.Helper()
	for name, log := range one.logs {
		if name == emu.QueueLog {
			continue
		}
		want, got := messageRecords(t, log), messageRecords(t, two.logs[name])
		if len(got) != len(want) {
			t.Fatalf("%s has %d records of messages by 2 guests, %d by one", name, len(got), len(want))
		}
		for i := range want {
			r := got[i]
			off := r.At - want[i].At
			if r.At = want[i].At; r != want[i] || off < -1 || off > 1 {
				t.Errorf("%s has %+v by 2 guests, %+v by one; want them within 1ns", name, got[i], want[i])
			}
		}
	}
}

// slowCore is an experiment of messages to and from another rack, over a core of 40 Gbps, at
// times that no two hosts have together.
func slowCore(protocol string, limit units.Bytes) *emu.Experiment {
	list := traffic.Stream{Name: "list", Pattern: traffic.PatternList}
	for round := range 6 {
		for i, from := range []string{"h1-1", "h1-2", "h1-3", "h1-4", "h2-1", "h2-2"} {
			to := []string{"h2-1", "h2-2", "h2-3", "h2-4", "h1-3", "h1-4"}[(i+round)%6]
			if from[1] == to[1] {
				continue
			}
			list.Messages = append(list.Messages, traffic.ListEntry{
				At:  units.Time(round)*37*units.Microsecond + units.Time(i)*1013 + 7,
				Src: from, Dst: to, Size: []units.Bytes{90_000, 700, 20_000, 200_000, 1460, 50_000}[(i*round)%6],
			})
		}
	}
	return &emu.Experiment{Scenario: "crossing", Variant: protocol, Protocol: protocol, Seed: 3,
		Topology: topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 1, HostRate: 100 * units.Gbps,
			CoreRate: 40 * units.Gbps, HostDelay: 1250, CoreDelay: 500, MTU: 1500},
		Streams: []traffic.Stream{list}, Duration: 300 * units.Microsecond, Drain: 30 * units.Millisecond,
		QueueEvery: 50 * units.Microsecond, QueueLimit: limit}
}

// A crossedRun is what a run left.
type crossedRun struct {
	facts *emu.Facts
	logs  map[string][]byte
}

func crossed(t *testing.T, x *emu.Experiment, guests int) crossedRun {
	t.Helper()
	dir := t.TempDir()
	split := *x
	split.Guests = guests
	facts, err := engine(t, nil).Run(context.Background(), &split, rundir.Open(t, dir), emu.Hooks{})
	if err != nil {
		t.Fatalf("%d guests: %v", guests, err)
	}
	return crossedRun{facts, files(t, dir)}
}
