package homa

import (
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Priorities of unscheduled data depend on what a message has left to send, with
// cutoffs such that each level carries the same share of bytes: HomaSimulation's
// STATIC_CBF_GRADUATED, which SIRD's evaluation uses (README, Cutoffs). Grants
// travel at the highest priority, so their bytes count as those of packets with
// nothing left.

// A census counts the wire bytes that a workload sends at unscheduled
// priorities, as an average per message, by the bytes that messages have left.
type census struct {
	sizes    []traffic.Point
	framing  topo.Framing
	rttBytes units.Bytes // packets that begin within this many wire bytes count
	tail     units.Bytes // so do packets that begin with less than this left, in wire bytes
}

// cutoffs returns the cutoffs between levels, or fewer if the distribution has no
// size to cut at.
func (c *census) cutoffs(levels int) (cuts []units.Bytes) {
	largest := c.sizes[len(c.sizes)-1].Size
	total := c.upTo(largest)
	low, below := units.Bytes(0), -1.0
	for level := 1; level < levels; level++ {
		share := total * float64(level) / float64(levels)
		enough := func(left units.Bytes) bool { b := c.upTo(left); return b >= share && b > below }
		if !enough(largest) {
			break
		}
		// The fewest bytes left that have this share at or below them.
		high := largest
		for low < high {
			if mid := low + (high-low)/2; enough(mid) {
				high = mid
			} else {
				low = mid + 1
			}
		}
		cuts = append(cuts, low)
		below = c.upTo(low)
	}
	return cuts
}

// upTo returns the wire bytes of packets before which at most left bytes of their
// message are unsent, with the grants.
func (c *census) upTo(left units.Bytes) (sum float64) {
	before := 0.0
	for _, p := range c.sizes {
		share := p.Cumulative - before
		before = p.Cumulative
		sum += share * float64(c.message(p.Size, left))
	}
	return sum
}

// message returns what one message of the given size adds to upTo.
func (c *census) message(size, left units.Bytes) (wire units.Bytes) {
	mss := c.framing.MSS
	full := c.framing.Wire(mss)
	packets := (size + mss - 1) / mss
	head := min(packets, (c.rttBytes+full-1)/full)
	tail := packets
	if c.tail > 0 {
		last := c.framing.Wire(size - (packets-1)*mss)
		if c.tail > last {
			tail = max(0, packets-1-(c.tail-last-1)/full)
		}
	}
	first := units.Bytes(0) // packet before which at most left bytes are unsent
	if size > left {
		first = (size - left + mss - 1) / mss
	}
	wire += c.span(size, packets, first, head)
	wire += c.span(size, packets, max(first, head, tail), packets)
	if scheduled := size - unscheduledOf(size, c.rttBytes, mss); scheduled > 0 {
		wire += (scheduled + mss - 1) / mss * grantWire
	}
	return wire
}

// span returns the wire bytes of packets from (included) up to to (excluded) of
// a message of so many packets.
func (c *census) span(size, packets, from, to units.Bytes) units.Bytes {
	if from >= to {
		return 0
	}
	wire := (to - from) * c.framing.Wire(c.framing.MSS)
	if to == packets {
		wire += c.framing.Wire(size-(packets-1)*c.framing.MSS) - c.framing.Wire(c.framing.MSS)
	}
	return wire
}

// unscheduledOf returns how much of a message needs no grants: all of it, or
// the whole packets within the first RTTbytes (README, Unscheduled data).
func unscheduledOf(size, rttBytes, mss units.Bytes) units.Bytes {
	if size <= rttBytes {
		return size
	}
	return rttBytes / mss * mss
}

// grantWire is the wire bytes of a GRANT.
const grantWire = topo.MinWire

func (p *Params) census(sizes []traffic.Point, fr topo.Framing) *census {
	return &census{sizes: sizes, framing: fr, rttBytes: p.RTTBytes, tail: p.BoostTail}
}

// cutoffs returns the cutoffs of the parameters, or else those computed from the
// workload.
func (p *Params) cutoffs(fr topo.Framing) ([]units.Bytes, error) {
	if len(p.Cutoffs) > 0 || p.Workload == "none" || p.Workload == ownTraffic {
		return p.Cutoffs, nil
	}
	d, err := traffic.Workload(p.Workload)
	if err != nil {
		return nil, err
	}
	return p.census(d.Points(), fr).cutoffs(p.unscheduledLevels()), nil
}

// unscheduledPriority returns the priority of a packet whose message has left
// bytes unsent before it: 7 up to the first cutoff, 6 up to the second, and so
// on.
func (h *Homa) unscheduledPriority(left Bytes) uint8 {
	level := uint8(0)
	for _, c := range h.cutoffs {
		if left <= c {
			break
		}
		level++
	}
	return highest - level
}
