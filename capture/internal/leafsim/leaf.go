// Package leafsim simulates a leaf that is captured, for tests of what is made of
// captures.
package leafsim

import (
	"math/rand/v2"
	"slices"

	"sirdbed/capture"
	"sirdbed/capture/internal/fakerun"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Leaf is a leaf with first-in-first-out ports, simulated: packets from two
// hosts and the spine leave by two downlinks and the uplink at link rate. It
// remembers how deep each queue really was.
type Leaf struct {
	Frames []capture.Frame // in order of time
	Truth  map[topo.PortID][]capture.Depth
	Lost   map[topo.PortID]int // packets
}

// Simulate passes n packets through leaf1 of a made-up run's fabric. A port
// holds up to limit packets.
func Simulate(f *topo.Fabric, n, limit int, rng *rand.Rand) *Leaf {
	s := &Leaf{Truth: map[topo.PortID][]capture.Depth{}, Lost: map[topo.PortID]int{}}
	leaf, _ := f.Node("leaf1")
	type waiting struct {
		starts units.Time
		len    int
	}
	free := map[topo.PortID]units.Time{}
	queued := map[topo.PortID][]waiting{}
	var events []change
	now := units.Time(1000)
	for i := range n {
		now += units.Time(rng.IntN(44))
		src := topo.HostID(rng.IntN(4))
		dst := topo.HostID((int(src) + 1 + rng.IntN(3)) % 4)
		if src > 1 && dst > 1 {
			dst = topo.HostID(rng.IntN(2))
		}
		in, _ := f.PortBetween(leaf.ID, 6) // spine1
		if src < 2 {
			in = f.Uplink(src).Reverse
		}
		out, _ := f.PortBetween(leaf.ID, 6)
		if dst < 2 {
			out = f.Downlink(dst).ID
		}
		data := fakerun.Frame(f, src, dst, uint16(i), 0, rng.IntN(1400))
		s.Frames = append(s.Frames, capture.Frame{Port: &f.Ports[in], At: now, Len: len(data), Data: data})
		for len(queued[out]) > 0 && queued[out][0].starts <= now {
			queued[out] = queued[out][1:]
		}
		if len(queued[out]) >= limit {
			s.Lost[out]++
			continue
		}
		start := max(now, free[out])
		free[out] = start + f.Ports[out].Rate.TimeFor(units.Bytes(len(data)+24))
		queued[out] = append(queued[out], waiting{start, len(data)})
		left := capture.Frame{Port: &f.Ports[out], Out: true, At: start, Len: len(data), Data: data}
		s.Frames = append(s.Frames, left)
		events = append(events, change{out, now, 1, len(data)}, change{out, start, -1, -len(data)})
	}
	slices.SortStableFunc(s.Frames, func(a, b capture.Frame) int { return int(a.At - b.At) })
	slices.SortStableFunc(events, func(a, b change) int { return int(a.at - b.at) })
	for _, e := range events {
		t := s.Truth[e.port]
		d := capture.Depth{}
		if len(t) > 0 {
			d = t[len(t)-1]
		}
		if len(t) == 0 || d.At != e.at {
			t = append(t, d)
		}
		t[len(t)-1] = capture.Depth{At: e.at, Packets: d.Packets + e.packets, Bytes: d.Bytes + int64(e.bytes)}
		s.Truth[e.port] = t
	}
	return s
}

type change struct {
	port    topo.PortID
	at      units.Time
	packets int
	bytes   int
}
