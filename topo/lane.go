package topo

import (
	"math"

	"sirdbed/topo/units"
)

// looked is how many j of a crossing are looked at from the first on, and as many up
// to the last: in between the bounds rise or fall all the way, but for what paths of
// differing rates make of the order of packets. Fewer bounds are a bound too.
const looked = 4096

// A lane is a path over the core as a server of full packets, in ps.
type lane struct {
	next  int64 // that the next packet takes from leaf to leaf
	every int64 // by which each further packet takes longer
}

func (f *Fabric) lane(core []PortID, wire units.Bytes) (l lane) {
	for _, p := range core {
		tx := f.Ports[p].Rate.Picoseconds(wire)
		l.next += tx + int64(f.Ports[p].Delay)*1000
		l.every = max(l.every, tx)
	}
	return l
}

// take gives one more packet to the lane that is the first to be done with it, and
// returns when that is.
func take(lanes []lane) int64 {
	best := &lanes[0]
	for i := range lanes {
		if lanes[i].next < best.next {
			best = &lanes[i]
		}
	}
	done := best.next
	best.next += best.every
	return done
}

// skip gives n more packets to lanes, as take does with each of them.
func skip(lanes []lane, n int64) {
	taken := func(by int64) (sum int64) { // before that
		for _, l := range lanes {
			if by > l.next && sum <= n {
				sum += 1 + (by-1-l.next)/max(1, l.every)
			}
		}
		return sum
	}
	least, most := int64(0), int64(math.MaxInt64/2)
	for least < most { // the latest time before which at most n are taken
		if middle := least + (most-least+1)/2; taken(middle) <= n {
			least = middle
		} else {
			most = middle - 1
		}
	}
	n -= taken(least)
	for i := range lanes {
		if l := &lanes[i]; least > l.next {
			l.next += (1 + (least-1-l.next)/max(1, l.every)) * l.every
		}
	}
	for ; n > 0; n-- { // what several paths take at the same time
		take(lanes)
	}
}
