//go:build linux

package endpoint

import (
	"time"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
	"sirdbed/topo/units"
)

// Latency is the distribution of times.
type Latency struct {
	Count  uint64     `json:"count"`
	Mean   float64    `json:"mean_ns"`
	Median units.Time `json:"p50"`
	P90    units.Time `json:"p90"`
	P99    units.Time `json:"p99"`
	P999   units.Time `json:"p99.9"`
	Max    units.Time `json:"max"`
}

func latencyOf(l *clock.Lateness) Latency {
	at := func(q float64) units.Time { return units.Time(l.Quantile(q)) }
	return Latency{
		Count: l.Count(), Mean: l.Mean(), Median: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999),
		Max: units.Time(l.Max()),
	}
}

// Totals are an endpoint's counts.
type Totals struct {
	Offered    int64          `json:"messages_offered"`   // from here
	Acked      int64          `json:"messages_acked"`     // known to be delivered
	Failed     int64          `json:"messages_failed"`    // given up
	Delivered  int64          `json:"messages_delivered"` // to here
	Sent       int64          `json:"payload_sent"`       // bytes of messages that were acked
	Received   int64          `json:"payload_received"`   // bytes
	Mismatches int64          `json:"payload_mismatches"` // packets whose payload was not what was sent
	NIC        node.NICCounts `json:"nic"`
}

// plus adds the totals of another host.
func (t Totals) plus(o Totals) Totals {
	return Totals{
		Offered: t.Offered + o.Offered, Acked: t.Acked + o.Acked, Failed: t.Failed + o.Failed,
		Delivered: t.Delivered + o.Delivered, Sent: t.Sent + o.Sent, Received: t.Received + o.Received,
		Mismatches: t.Mismatches + o.Mismatches,
		NIC: node.NICCounts{
			Sent: t.NIC.Sent + o.NIC.Sent, Received: t.NIC.Received + o.NIC.Received,
			Corrupt: t.NIC.Corrupt + o.NIC.Corrupt, Foreign: t.NIC.Foreign + o.NIC.Foreign,
			Drops: t.NIC.Drops + o.NIC.Drops, Full: t.NIC.Full + o.NIC.Full,
		},
	}
}

// minus returns what has come since.
func (t Totals) minus(before Totals) Totals {
	return Totals{
		Offered: t.Offered - before.Offered, Acked: t.Acked - before.Acked, Failed: t.Failed - before.Failed,
		Delivered: t.Delivered - before.Delivered, Sent: t.Sent - before.Sent, Received: t.Received - before.Received,
		Mismatches: t.Mismatches - before.Mismatches,
	}
}

// Second is what has happened in about a second of real time.
type Second struct {
	At       time.Duration `json:"at"`   // its end, since the beginning
	Span     time.Duration `json:"span"` // how long it was
	Totals                 // of the second
	Latency  Latency       `json:"latency"` // of messages that were through in it
	UnderWay int           `json:"under_way"`
	Peers    int           `json:"peers"` // connected at its end
}

// Goodput returns payload as a rate.
func Goodput(payload int64, span time.Duration) units.BitsPerSecond {
	if span <= 0 {
		return 0
	}
	return units.BitsPerSecond(float64(payload) * 8 / span.Seconds())
}

// A tally collects what the host reports, and makes seconds of it.
type tally struct {
	now    func() int64 // monotonic ns
	begun  int64
	since  int64 // the last second's end
	before Totals
	all    clock.Lateness
	recent clock.Lateness
}

func newTally() *tally {
	t := &tally{now: clock.Monotonic}
	t.begun = t.now()
	t.since = t.begun
	return t
}

// add takes the latency of a message.
func (t *tally) add(latency units.Time) {
	t.all.Add(int64(latency))
	t.recent.Add(int64(latency))
}

// due returns when the current second ends, in monotonic ns.
func (t *tally) due() int64 { return t.since + int64(time.Second) }

// second ends the current second.
func (t *tally) second(total Totals) Second {
	now := t.now()
	s := Second{
		At: time.Duration(now - t.begun), Span: time.Duration(now - t.since), Totals: total.minus(t.before),
		Latency: latencyOf(&t.recent),
	}
	t.since, t.before, t.recent = now, total, clock.Lateness{}
	return s
}
