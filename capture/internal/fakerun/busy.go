package fakerun

import (
	"testing"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// Names that every host logs its received payload by.
const (
	payloadGauge   = "payload_received"
	payloadCounter = "window_payload_received"
)

// Busy returns a run with something of everything: 200 messages from h1-1 to
// h1-2 that take 1 to 200 us, gauges and counters of every host, the queue of
// leaf1>h1-2, and drops and marks at one port.
func Busy(t *testing.T) *Run {
	t.Helper()
	r := New(t, OneWay)
	for i := range 200 {
		r.Message(0, 1, i, Tag(t, 0, i), 1000, 2*ms+units.Time(i)*us, 2*ms+units.Time(i)*us+units.Time(i+1)*us)
	}
	for h, rate := range []float64{0, 2, 6, 0} { // bytes per ns
		var received, credit []Point
		for at := units.Time(0); at <= 10*ms; at += 100 * us {
			received = append(received, Point{at, rate * float64(at)})
			credit = append(credit, Point{at, float64(h) * 100})
		}
		r.Gauge(r.F.Hosts[h], 0, payloadGauge, received...)
		r.Gauge(r.F.Hosts[h], 1, "credit", credit...)
		r.Counter(r.F.Hosts[h], payloadCounter, int64(rate*8e6))
		r.Counter(r.F.Hosts[h], "resends", int64(h))
	}
	for at := units.Time(0); at < 10*ms; at += 10 * us {
		r.Queues = append(r.Queues,
			record.Record{Kind: record.Queue, Peer: uint16(r.F.Downlink(1).ID), At: at, N: int64(at/us) % 1000 * 10},
			record.Record{Kind: record.Tick, At: at})
	}
	r.Facts.Ports[4] = emu.PortFacts{Name: r.F.Ports[4].Name, Drops: 3, Marks: 5, CreditDrops: 7}
	return r
}
