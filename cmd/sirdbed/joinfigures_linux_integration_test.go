//go:build linux && !portable

package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu/effort"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Two hosts of the fabric and one that joins send as much as they can to a fourth, and ask
// it something each millisecond.
const joinIncast = `name: joined
engine: real
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: 1Gbps, host_delay: 1us, mtu: 1500B}
hosts:
  - {name: h1-4, device: cable0, join: true}
sird: {ecn: none, bdp: measured, receiver_policy: round_robin}
traffic:
  - {name: big, pattern: fixed, from: [h1-2, h1-3, h1-4], to: [h1-1], size: 100KB, interval: 2.3ms}
  - {name: ask, pattern: fixed, from: [h1-2, h1-3, h1-4], to: [h1-1], size: 8B, interval: 1ms, reply: 8B}
warmup: 200ms
duration: 2s
drain: 500ms
`

// A share is what a sender has of an incast.
type share struct {
	gbps   float64 // of goodput
	median float64 // of round trips, us
}

// A host that joins has the goodput and the median round trip of one in the fabric, within
// 10 %. It is about this machine at this hour, so that ordinary tests make no such runs.
func TestPeersAreLikeOtherHosts(t *testing.T) {
	runs := effort.Count(t, "SIRDBED_JOINS", 0)
	if runs == 0 {
		t.Skip("SIRDBED_JOINS says how many runs to make")
	}
	j := buildJoinable(t)
	j.write("join.yaml", joinIncast)
	var peer, other []share
	for i := range runs {
		out := fmt.Sprint("r", i)
		run := j.run("--out", out)
		j.enter().exits(t, "the run is over\n", exitFine)
		run.exits(t, "", exitFine, exitInvalid)
		v := j.variant(out)
		p, a, b := shareOf(v, 3), shareOf(v, 1), shareOf(v, 2)
		o := share{(a.gbps + b.gbps) / 2, (a.median + b.median) / 2}
		t.Logf("h1-2 %.3f Gbps, %.1f us; h1-3 %.3f Gbps, %.1f us; h1-4, which has joined, %.3f Gbps, %.1f us; %s; %v; "+
			"conservation %s", a.gbps, a.median, b.gbps, b.median, p.gbps, p.median, check(v, "peer clocks").Found,
			v.Verdict.Reasons, check(v, "conservation").Level)
		peer, other = append(peer, p), append(other, o)
	}
	for _, f := range []struct {
		name string
		of   func(share) float64
	}{{"goodput", func(s share) float64 { return s.gbps }}, {"round trip", func(s share) float64 { return s.median }}} {
		p, o := middle(peer, f.of), middle(other, f.of)
		t.Logf("%s, median of %d runs: the peer's %.4g, others' %.4g, %+.1f %%", f.name, runs, p, o, 100*(p/o-1))
		if math.Abs(p/o-1) > 0.1 {
			t.Errorf("%s of the peer is %.4g, and that of others %.4g", f.name, p, o)
		}
	}
}

// middle is the median of a figure.
func middle(list []share, of func(share) float64) float64 {
	var figures []float64
	for _, s := range list {
		figures = append(figures, of(s))
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}

// shareOf is what a sender had in the window.
func shareOf(v *results.Variant, src topo.HostID) (s share) {
	from, to := v.Experiment.Window()
	var trips []units.Time
	for i := range v.Messages {
		m := &v.Messages[i]
		if m.Src != src {
			continue
		}
		if m.Delivered >= from && m.Delivered < to {
			s.gbps += float64(m.Size) * 8 / float64(to-from)
		}
		if m.Reply >= 0 && m.Class == results.Measured {
			trips = append(trips, m.Latency())
		}
	}
	slices.Sort(trips)
	if len(trips) > 0 {
		s.median = trips[len(trips)/2].Seconds() * 1e6
	}
	return s
}
