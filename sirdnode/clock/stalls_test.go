//go:build linux

package clock

import (
	"testing"

	"sirdbed/topo/units"
)

func TestStallsCountWhatIsLongAndInTheWindow(t *testing.T) {
	type span [2]units.Time
	for _, c := range []struct {
		name           string
		spans          []span
		total, longest units.Time
	}{
		{"none", nil, 0, 0},
		{"short", []span{{1000, 1010}, {1500, 1505}}, 0, 0},
		{"one", []span{{1000, 1011}}, 11, 11},
		{"several", []span{{1000, 1011}, {1100, 1200}, {1300, 1305}}, 111, 100},
		{"before the window", []span{{500, 900}}, 0, 0},
		{"into the window", []span{{500, 1004}}, 4, 4},
		{"out of the window", []span{{1995, 5000}}, 5, 5},
		{"over the whole of it", []span{{0, 5000}}, 1000, 1000},
		{"early", []span{{1200, 1100}}, 0, 0},
		{"never due, before nominal 0", []span{{units.Never, -5}}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Stalls{From: 1000, To: 2000, Least: 10}
			for _, x := range c.spans {
				s.Add(x[0], x[1])
			}
			if s.Total != c.total || s.Longest != c.longest {
				t.Errorf("total %v, longest %v; want %v, %v", s.Total, s.Longest, c.total, c.longest)
			}
		})
	}
}
