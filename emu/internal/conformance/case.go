// Package conformance is what a port does with known bursts, packet by packet:
// one table of cases that every implementation meets, the qdisc tree with
// either marker and the model.
package conformance

import (
	"math"
	"math/bits"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Frame is a packet of a burst.
type Frame struct {
	ID         uint32 // from 0, in the order of sending
	Length     int    // of the Ethernet frame without its check sequence, at least 46
	Precedence uint8  // 0 to 7
	ECT        bool
	Credit     bool
}

// A Case is a port and a burst that reaches it within no time, or spaced.
type Case struct {
	Name       string
	Rate       units.BitsPerSecond
	Priorities int         // levels
	Limit      units.Bytes // of each level, 0: none
	Mark       units.Bytes // ECN step, 0: none
	Share      float64     // of the credit class, 0: none
	Credits    int         // that it has room for

	// Prelude is sent before, and has left when the burst comes: HTB lends each
	// level its first packet, once a minute, which the cases are not about.
	Prelude []Frame
	Burst   []Frame
	Spacing units.Time // of the burst; 0 unless it is of credits
}

// A Departure is a packet that leaves the port.
type Departure struct {
	Frame
	Marked bool
	At     int64 // ps after the first
}

// A Result is what comes of a burst.
type Result struct {
	Departures         []Departure // in their order
	Drops, CreditDrops int
}

// CreditBurst is how many minimal packets of the credit class leave unspaced, by
// a figure of its own: engines are to meet it.
const CreditBurst = 2

// Want works the result out.
//
// A packet that finds the link idle leaves at once. Others wait in their level:
// that of their precedence, or the last one. One that does not fit is dropped;
// one that may be marked is if at least Mark bytes of frames wait in all levels
// before it. Higher levels leave first, each packet when the one before is
// through.
func (c *Case) Want() (r Result) {
	if c.Share > 0 {
		return c.wantCredits()
	}
	var waiting [8][]Departure
	var backlog [8]units.Bytes // by level
	var total units.Bytes      // of all levels
	levels, busy := uint8(0), false
	for _, f := range c.Burst {
		level := min(int(f.Precedence), c.Priorities-1)
		n := units.Bytes(f.Length)
		d := Departure{Frame: f, Marked: c.Mark > 0 && f.ECT && total >= c.Mark}
		switch {
		case !busy:
			busy = true
			r.Departures = append(r.Departures, d)
		case c.Limit > 0 && backlog[level]+n > c.Limit:
			r.Drops++
		default:
			waiting[level] = append(waiting[level], d)
			backlog[level] += n
			total += n
			levels |= 1 << level
		}
	}
	for levels != 0 {
		level := bits.Len8(levels) - 1
		d := waiting[level][0]
		if waiting[level] = waiting[level][1:]; len(waiting[level]) == 0 {
			levels &^= 1 << level
		}
		last := r.Departures[len(r.Departures)-1]
		d.At = last.At + c.Rate.Picoseconds(c.Wire(last.Length))
		r.Departures = append(r.Departures, d)
	}
	return r
}

// wantCredits is Want for bursts of credits alone. A credit leaves when the one
// before is through and the class has tokens for it: a bucket of CreditBurst
// minimal packets, filled at their share of the link. Those that come meanwhile
// wait, and are dropped when Credits do.
func (c *Case) wantCredits() (r Result) {
	var queue []Frame
	free, full := int64(0), int64(0) // when link and bucket are
	rate := units.BitsPerSecond(math.Round(float64(c.Rate) * c.Share))
	bucket := rate.Picoseconds(CreditBurst * topo.MinWire)
	serve := func(until int64) {
		for len(queue) > 0 {
			f := queue[0]
			cost := rate.Picoseconds(c.Wire(f.Length))
			at := max(free, full+cost-bucket)
			if at > until {
				return
			}
			queue = queue[1:]
			free, full = at+c.Rate.Picoseconds(c.Wire(f.Length)), max(full, at)+cost
			r.Departures = append(r.Departures, Departure{Frame: f, At: at})
		}
	}
	for i, f := range c.Burst {
		now := int64(i) * int64(c.Spacing) * 1000
		serve(now - 1)
		if free <= now && len(queue) == 0 {
			free = now
		}
		if len(queue) == c.Credits {
			r.CreditDrops++
			continue
		}
		queue = append(queue, f)
		serve(now)
	}
	serve(math.MaxInt64)
	return r
}

// Wire returns what a frame occupies on the link.
func (c *Case) Wire(length int) units.Bytes { return topo.WireBytes(units.Bytes(length) - ethernet) }

const ethernet = 14 // bytes of header, which WireBytes adds
