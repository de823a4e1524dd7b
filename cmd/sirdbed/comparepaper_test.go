package main

import (
	"strings"
	"testing"

	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// What a sweep's row says of stability counts beside the print as it is: it is by the rule for
// points already, of which 49 of 50 Gbps would be carried.
func TestUnstableRowsAreUnstableCells(t *testing.T) {
	row := func(protocol string, unstable bool, grows string) SweepRow {
		return SweepRow{
			Protocol: protocol, Seed: 1, Hosts: 144, Messages: 1000, SlowdownP99: 20, OfferedGbps: 50,
			GoodputGbps: 49, Unstable: unstable, QueueGrows: grows, LeafMax: 1e6,
			Paper: &reproduce.Place{
				Study: "balanced", Workload: "wka", Load: "0.5", Protocol: protocol, Arrivals: "released",
			},
		}
	}
	o := &SweepOutcome{Points: []SweepRow{
		row("xpass", true, "it grew"), row("sird", false, ""), row("homa", false, "it grew"), row("swift", true, ""),
	}}
	for _, r := range o.Points { // without which there are no maxima over all loads
		at := *r.Paper
		at.Load = reproduce.HighestLoad()
		r.Paper = &at
		o.Points = append(o.Points, r)
	}
	f, _ := reproduce.FoundAt(o.placed())
	m := f.Measured()
	for _, c := range []struct {
		protocol, table string
		want            bool
	}{
		{"xpass", paper.P99Slowdown, true}, {"xpass", paper.MaxTorQueue, true}, {"xpass", paper.MaxGoodput, false},
		{"sird", paper.P99Slowdown, false}, {"sird", paper.MaxTorQueue, false},
		{"homa", paper.P99Slowdown, false}, {"homa", paper.MaxTorQueue, true},
		{"swift", paper.P99Slowdown, true}, {"swift", paper.MaxTorQueue, false},
	} {
		v, ok := m.Cells[paper.Cell{Table: c.table, Config: "balanced", Workload: "wka", Protocol: c.protocol}]
		if !ok || v.Unstable != c.want {
			t.Errorf("%s, %s: %+v (there: %v), want unstable %v", c.protocol, c.table, v, ok, c.want)
		}
	}
}

// Two points that differ in what the paper's tables do not have are not taken for seeds of one.
func TestTwoPointsForOneCellAreRefused(t *testing.T) {
	row := func(warmup string, seed int64) SweepRow {
		return SweepRow{
			Protocol: "sird", Seed: seed, At: map[string]string{"warmup": warmup},
			Paper: &reproduce.Place{
				Study: "balanced", Workload: "wka", Load: "0.5", Protocol: "sird", Arrivals: "released",
			},
		}
	}
	seeds := &SweepOutcome{Axes: []string{"warmup"}, Points: []SweepRow{row("1ms", 1), row("1ms", 2)}}
	must(t, onePerPlace(seeds.placed()))
	warmups := &SweepOutcome{Axes: []string{"warmup"}, Points: []SweepRow{row("1ms", 1), row("2ms", 1)}}
	if err := onePerPlace(warmups.placed()); err == nil || !strings.Contains(err.Error(), "warmup=1ms and warmup=2ms") {
		t.Errorf("got %v", err)
	}
}

// A Poisson point at the highest load does not stand for one of released arrivals, which cells are of.
func TestHighestLoadOfOtherArrivals(t *testing.T) {
	row := func(load, arrivals string) SweepRow {
		return SweepRow{
			Protocol: "sird", Seed: 1, Hosts: 144, Messages: 1000, SlowdownP99: 2, GoodputGbps: 48,
			Paper: &reproduce.Place{
				Study: "balanced", Workload: "wka", Load: load, Protocol: "sird", Arrivals: arrivals,
			},
		}
	}
	goodput := paper.Cell{Table: paper.MaxGoodput, Config: "balanced", Workload: "wka", Protocol: "sird"}
	for arrivals, want := range map[string]bool{"released": true, "poisson": false} {
		o := &SweepOutcome{Points: []SweepRow{row("0.5", "released"), row(reproduce.HighestLoad(), arrivals)}}
		p := &printComparison{}
		must(t, p.ofPoints(o.placed()))
		if _, there := p.measured.Cells[goodput]; there != want {
			t.Errorf("%s: the most goodput is there: %v; %q", arrivals, there, p.notes)
		}
	}
}
