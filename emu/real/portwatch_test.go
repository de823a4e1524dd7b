//go:build linux

package real

import (
	"testing"

	"sirdbed/emu/fabric/port"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A port of 100 Gbps takes 123 ns for a full frame of 1538 B, and the samples below
// are that far apart unless they say otherwise.
func TestPortsThatStandStillAreSeen(t *testing.T) {
	const packet = 123
	steady := func(n int, backlog, sent int) (list [][2]int) {
		for range n {
			list = append(list, [2]int{backlog, sent})
		}
		return list
	}
	join := func(lists ...[][2]int) (all [][2]int) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for _, c := range []struct {
		name           string
		samples        [][2]int // packets that wait, and that were sent since the sample before
		every          units.Time
		total, longest units.Time // at least, and at most 2 packet times more
	}{
		{"busy at its rate", steady(100, 5, 1), packet, 0, 0},
		{"empty", steady(100, 0, 0), packet, 0, 0},
		{"stands still", join(steady(10, 5, 1), steady(20, 5, 0), steady(10, 5, 1)), packet, 19 * packet, 20 * packet},
		{"at half its rate", steady(100, 5, 1), 2 * packet, 98 * packet, 0},
		{"a little late", join(steady(10, 5, 1), steady(1, 5, 0), steady(10, 5, 1)), packet, 0, 0},
		{"may have been empty between samples", steady(50, 1, 2), 10 * packet, 0, 0},
		{"seen seldom, and busy all the time", steady(10, 200, 100), 100 * packet, 0, 0},
		{"seen seldom, and slow", steady(10, 200, 50), 100 * packet, 449 * packet, 0},
		{"stands still to the end", join(steady(10, 5, 1), steady(30, 5, 0)), packet, 29 * packet, 29 * packet},
		{"stands still before the window", join(steady(1, 5, 0)), packet, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &topo.Port{Rate: 100 * units.Gbps}
			w := newPortWatch(p, 1538, 1000, 1_000_000)
			var s port.Stats
			for i, x := range c.samples {
				q := &s.Queues[0]
				q.Packets, q.Bytes = uint32(x[0]), uint32(x[0]*1514)
				q.SentPackets += uint64(x[1])
				q.SentBytes += uint64(x[1] * 1514)
				w.look(1000+units.Time(i)*c.every, &s)
			}
			got := w.stalls()
			near := func(x, want units.Time) bool {
				return x == want || want > 0 && x >= want && x <= want+2*packet
			}
			if !near(got.Total, c.total) || !near(got.Longest, c.longest) {
				t.Errorf("total %v, longest %v; want %v, %v", got.Total, got.Longest, c.total, c.longest)
			}
		})
	}
}

// What the port does outside the window is nobody's loss.
func TestPortsAreWatchedInTheWindow(t *testing.T) {
	w := newPortWatch(&topo.Port{Rate: 100 * units.Gbps}, 1538, 10_000, 20_000)
	var s port.Stats
	s.Queues[0].Packets, s.Queues[0].Bytes = 9, 9*1514
	for at := units.Time(0); at < 40_000; at += 100 {
		w.look(at, &s)
	}
	if got := w.stalls(); got.Total != 10_000 || got.Longest != 10_000 {
		t.Errorf("a port that stood still before, in and after a window of 10us lost %+v", got)
	}
}
