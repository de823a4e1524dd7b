package traffic_test

import (
	"math"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Streams count by their messages, and replies are messages.
func TestMixture(t *testing.T) {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 100 * units.Gbps, HostDelay: 1000})
	if err != nil {
		t.Fatal(err)
	}
	small := traffic.Stream{Name: "small", Pattern: traffic.PatternFixed, From: []string{"h1-1"}, To: []string{"h1-4"},
		Size: 1000, Rate: 8 * units.Gbps} // a million a second
	large := traffic.Stream{Name: "large", Pattern: traffic.PatternFixed, From: []string{"h1-1", "h1-2"},
		To: []string{"h1-4"}, Size: 100_000, Rate: 10 * units.Gbps} // 12,500 a second each
	answered := small
	answered.Name, answered.Reply = "answered", 4
	burst := traffic.Stream{Name: "burst", Pattern: traffic.PatternIncast, To: []string{"h1-4"}, FanIn: 3,
		Size: 100_000, Interval: 3 * units.Microsecond} // a million a second
	out := traffic.Stream{Name: "out", Pattern: traffic.PatternOutcast, From: []string{"h1-1"}, To: []string{"h1-2"},
		Size: 12_500} // a million a second fill the link
	for _, c := range []struct {
		name    string
		streams []traffic.Stream
		want    []traffic.Point
	}{
		{"nothing", nil, nil},
		{"one size", []traffic.Stream{small}, []traffic.Point{{Size: 1000, Cumulative: 1}}},
		{"two", []traffic.Stream{large, small},
			[]traffic.Point{{Size: 1000, Cumulative: 1e6 / 1.025e6}, {Size: 100_000, Cumulative: 1}}},
		{"replies", []traffic.Stream{answered, burst},
			[]traffic.Point{{Size: 4, Cumulative: 1. / 3}, {Size: 1000, Cumulative: 2. / 3},
				{Size: 100_000, Cumulative: 1}}},
		{"the same size twice", []traffic.Stream{burst, large, small, out},
			[]traffic.Point{{Size: 1000, Cumulative: 1 / 3.025}, {Size: 12_500, Cumulative: 2 / 3.025},
				{Size: 100_000, Cumulative: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := traffic.Mixture(f, c.streams)
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i].Size != c.want[i].Size || math.Abs(got[i].Cumulative-c.want[i].Cumulative) > 1e-9 {
					t.Errorf("row %d: got %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}
