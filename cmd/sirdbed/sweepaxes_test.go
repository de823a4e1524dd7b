package main

import (
	"maps"
	"strings"
	"testing"

	"sirdbed/capture/metric"
	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo"
)

func TestLabelsAsNumbers(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   map[string]float64
		unit   string
	}{
		{[]string{"0.5", "2"}, map[string]float64{"0.5": 0.5, "2": 2}, ""},
		{[]string{"500us", "2ms"}, map[string]float64{"500us": 500, "2ms": 2000}, "us"},
		{[]string{"100Gbps", "500Mbps"}, map[string]float64{"100Gbps": 100, "500Mbps": 0.5}, "Gbps"},
		{[]string{"1bdp", "1.5bdp"}, map[string]float64{"1bdp": 1, "1.5bdp": 1.5}, "bdp"},
		{[]string{"1", "inf"}, nil, ""},
		{[]string{"1KB", "1ms"}, nil, ""},
		{[]string{"1", "1ms"}, nil, ""},
		{[]string{"full", "half"}, nil, ""},
		{nil, nil, ""},
	} {
		n, ok := numbersOf(c.labels)
		if ok != (c.want != nil) || ok && (!maps.Equal(n.of, c.want) || n.unit != c.unit) {
			t.Errorf("%q: %v %q (%v), want %v %q", c.labels, n.of, n.unit, ok, c.want, c.unit)
		}
	}
}

// grid is a grid of axes with labels, such as "load=0.5,0.7".
func grid(axes ...string) (jobs []sweep.Job) {
	jobs = []sweep.Job{{}}
	for _, axis := range axes {
		name, labels, _ := strings.Cut(axis, "=")
		var next []sweep.Job
		for _, j := range jobs {
			for label := range strings.SplitSeq(labels, ",") {
				at := append(append([]sweep.Coordinate{}, j.At...), sweep.Coordinate{Axis: name, Label: label})
				next = append(next, sweep.Job{At: at})
			}
		}
		jobs = next
	}
	return jobs
}

// Figures are over the first axis that has numbers, by protocol, unless others are asked for.
func TestAxesOfFigures(t *testing.T) {
	all := grid("core=full,half", "load=0.5,0.7", "seed=1,2", "protocol=sird,homa")
	for _, c := range []struct {
		jobs                        []sweep.Job
		x, by, across, series, rest string
	}{
		{all, "", "", "load", "protocol", "core"},
		{all, "core", "", "core", "protocol", "load"},
		{all, "protocol", "core", "protocol", "core", "load"},
		{all, "", "load", "core", "load", "protocol"},
		{grid("core=full,half", "protocol=sird,homa"), "", "", "core", "protocol", ""},
		{grid("load=0.5,0.7"), "", "", "load", "", ""},
		{grid("protocol=sird,homa"), "", "", "protocol", "", ""},
		{grid("seed=1,2"), "", "", "", "", ""},
		{grid(), "", "", "", "", ""},
	} {
		table := sweepTable{jobs: c.jobs, x: c.x, by: c.by}
		err := table.check()
		rest := strings.Join(table.panels(), " ")
		if err != nil || table.across != c.across || table.series != c.series || rest != c.rest {
			t.Errorf("--x %q --by %q: over %q by %q, %q left (%v), want %q, %q, %q", c.x, c.by, table.across,
				table.series, rest, err, c.across, c.series, c.rest)
		}
	}
}

// A figure has a name of its own, and what is missing is left out.
func TestFiguresOfASweep(t *testing.T) {
	jobs := grid("core=a b,a-b", "load=0.5,0.7", "protocol=sird,homa")
	table := sweepTable{
		jobs: jobs, found: make([]*points.Point, len(jobs)), metrics: []metric.Metric{{Name: "goodput_gbps"}},
	}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	if figures, _ := table.figures(); len(figures) != 0 {
		t.Errorf("%d figures of nothing", len(figures))
	}
	for i := range jobs {
		if i != 1 {
			table.found[i] = &points.Point{}
			table.found[i].Experiment.Topology = topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100e9, MTU: 1500}
			table.found[i].Result.GoodputGbps = float64(i + 1)
		}
	}
	figures, left := table.figures()
	if len(figures) != 2 || left != 0 || figures[0].Name == figures[1].Name {
		t.Fatalf("%d figures, %d left: %+v", len(figures), left, figures)
	}
	// A table by an axis has the notes of its metric alone, whatever was asked for before.
	table.by, table.metrics = "protocol", append(table.metrics, metric.Metric{Name: "queue_bytes", Port: "nowhere"})
	table.figures()
	tables := table.tables()
	if strings.Contains(tables[0].Note, "-: ") || !strings.Contains(tables[1].Note, "-: ") {
		t.Errorf("notes are %q and %q", tables[0].Note, tables[1].Note)
	}
	if s := figures[0].Series[1]; s.Name != "homa" || len(s.Points) != 1 || s.Points[0].X != 0.7 || s.Points[0].Y != 4 {
		t.Errorf("homa has %+v", s)
	}
}

// A figure's name is a file's: settings of any length and signs make one that file systems take.
func TestNamesOfFigures(t *testing.T) {
	for what, want := range map[string]string{
		"slowdown p99 core a b":              "slowdown-p99-core-a-b",
		"drops from [h1-1, h1-2]":            "drops-from-h1-1-h1-2",
		strings.Repeat("a", 99) + "/b":       strings.Repeat("a", 99),
		strings.Repeat("from [h1-1] é", 300): "from-h1-1-" + strings.Repeat("from-h1-1-", 8) + "from-h1-1",
	} {
		if got := figureName(what); got != want {
			t.Errorf("%.50s: %q, want %q", what, got, want)
		}
	}
}
