package homa_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

func workload(t testing.TB, name string) *traffic.Distribution {
	t.Helper()
	d, err := traffic.Workload(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// README, Cutoffs: computed by HomaSimulation's algorithm with that simulator's
// packets: at most 1442 bytes in the first, headers that add 96 wire bytes to
// an unscheduled packet, 86 for a grant. Here packets carry 1446 bytes, headers
// add 92, and a grant takes 84. Cutoffs lie at sizes and at whole packets
// before them; 4 bytes in 96 shift the shares by a row of the distribution, and
// rows are about 1 % apart. Hence the tolerance of 1.5 %.
func TestCutoffsAreThoseOfThePublishedSimulator(t *testing.T) {
	fr := homa.Protocol.Framing(1500)
	for _, c := range []struct {
		workload string
		levels   int
		want     []units.Bytes
	}{
		{"wka", 3, []units.Bytes{2644, 26554}},
		{"wka", 2, []units.Bytes{7696}},
		{"wka", 4, []units.Bytes{1349, 7696, 50259}},
		{"wkb", 2, []units.Bytes{40194}},
		{"wka", 1, nil}, {"wkb", 1, nil}, {"wkc", 1, nil},
	} {
		got := homa.Cutoffs(workload(t, c.workload), c.levels, fr, 100_000, 0)
		t.Logf("%s, %d levels: %d, published %d", c.workload, c.levels, got, c.want)
		if len(got) != len(c.want) {
			t.Errorf("%s, %d levels: %v, want %v", c.workload, c.levels, got, c.want)
			continue
		}
		for i, want := range c.want {
			if off := float64(got[i]-want) / float64(want); off < -0.015 || off > 0.015 {
				t.Errorf("%s, %d levels: %v, want %v", c.workload, c.levels, got, c.want)
			}
		}
	}
}

// The defining property (HomaSimulation, STATIC_CBF_GRADUATED), checked by a
// histogram of every packet of every size: a cutoff is the least number of
// bytes left at or below which the levels up to it have their share, with
// grants at 0.
func TestCutoffsDivideBytesEqually(t *testing.T) {
	fr := homa.Protocol.Framing(1500)
	for _, name := range traffic.Workloads() {
		for _, tail := range []units.Bytes{0, 1000, 30_000, 100_000} {
			for levels := 2; levels <= 7; levels++ {
				d := workload(t, name)
				got := homa.Cutoffs(d, levels, fr, 50_000, tail)
				if want := histogramCutoffs(d, levels, fr, 50_000, tail); !slices.Equal(got, want) {
					t.Errorf("%s, %d levels, tail %d: %v, want %v", name, levels, tail, got, want)
				}
			}
		}
	}
}

func histogramCutoffs(
	d *traffic.Distribution, levels int, fr topo.Framing, rttBytes, tail units.Bytes,
) (cuts []units.Bytes) {
	histogram := map[units.Bytes]float64{}
	before, total := 0.0, 0.0
	add := func(key units.Bytes, bytes float64) {
		histogram[key] += bytes
		total += bytes
	}
	for _, p := range d.Points() {
		share := p.Cumulative - before
		before = p.Cumulative
		toSend := units.Bytes(0)
		for left := p.Size; left > 0; left -= fr.MSS {
			toSend += fr.Wire(min(fr.MSS, left))
		}
		sent := units.Bytes(0)
		for left := p.Size; left > 0; left -= fr.MSS {
			wire := fr.Wire(min(fr.MSS, left))
			if sent < rttBytes || toSend < tail {
				add(left, share*float64(wire))
			}
			sent, toSend = sent+wire, toSend-wire
			if p.Size > rttBytes && p.Size-left >= rttBytes/fr.MSS*fr.MSS {
				add(0, share*84)
			}
		}
	}
	var keys []units.Bytes
	for k := range histogram {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	sum, level := 0.0, 1
	for _, k := range keys {
		if sum += histogram[k]; level < levels && sum >= total*float64(level)/float64(levels)*(1-1e-12) {
			cuts = append(cuts, k)
			level++
		}
	}
	return cuts
}

// README, Parameters: 8 priorities, 3 of them unscheduled and 5 scheduled for
// WKa, 1 and 7 otherwise; as many senders are granted as there are scheduled
// priorities.
func TestLevelsFollowTheWorkload(t *testing.T) {
	f := rack(t, 10)
	for _, c := range []struct {
		workload string
		cuts     int
		granted  int
	}{{"wka", 2, 5}, {"wkb", 0, 7}, {"wkc", 0, 7}, {"none", 0, 7}, {"traffic", 0, 7}} {
		h := newCore(t, f, 9, params(f, func(p *homa.Params) { p.Workload = c.workload }))
		if got := len(h.Cuts()); got != c.cuts {
			t.Errorf("%s: %d cutoffs, want %d", c.workload, got, c.cuts)
		}
		if got := len(grantsToAll(h, 9)); got != c.granted {
			t.Errorf("%s: %d senders granted, want %d", c.workload, got, c.granted)
		}
	}
	if n := homa.Protocol.Network(f, params(f, nil)); n.Priorities != 8 || n.MarkCore != 0 || n.MarkEdge != 0 ||
		n.CreditClass {
		t.Errorf("ports: %+v", n)
	}
}
