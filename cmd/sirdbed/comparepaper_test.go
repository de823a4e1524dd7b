package main

import (
	"testing"

	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/reproduce"
)

// What a sweep's row says of stability counts beside the print, by the rule for points.
func TestUnstableRowsAreUnstableCells(t *testing.T) {
	row := func(protocol string, goodput float64, grows string) SweepRow {
		return SweepRow{
			Protocol: protocol, Seed: 1, Hosts: 144, Messages: 1000, SlowdownP99: 20, OfferedGbps: 50,
			GoodputGbps: goodput, Unstable: true, QueueGrows: grows, LeafMax: 1e6,
			Paper: &reproduce.Place{
				Study: "balanced", Workload: "wka", Load: "0.5", Protocol: protocol, Arrivals: "released",
			},
		}
	}
	o := &SweepOutcome{Points: []SweepRow{row("xpass", 30, "it grew"), row("sird", 49, "")}}
	f, _ := reproduce.FoundAt(o.placed())
	m := f.Measured()
	for _, c := range []struct {
		protocol, table string
		want            bool
	}{
		{"xpass", paper.P99Slowdown, true}, {"xpass", paper.MaxTorQueue, true}, {"xpass", paper.MaxGoodput, false},
		{"sird", paper.P99Slowdown, false}, {"sird", paper.MaxTorQueue, false},
	} {
		v, ok := m.Cells[paper.Cell{Table: c.table, Config: "balanced", Workload: "wka", Protocol: c.protocol}]
		if !ok || v.Unstable != c.want {
			t.Errorf("%s, %s: %+v (there: %v), want unstable %v", c.protocol, c.table, v, ok, c.want)
		}
	}
}
