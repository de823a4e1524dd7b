package capture

import (
	"sort"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Depth is what waited at a port from At until the next Depth: packets that had
// arrived in full and had not begun to leave (scenarios/README, Queues). Bytes are
// those of frames, without frame check sequence, preamble and gap.
type Depth struct {
	At      units.Time
	Packets int
	Bytes   int64
}

// A PortQueue is the queue of one port as its switch's capture shows it.
type PortQueue struct {
	Port   *topo.Port
	Series []Depth // in order of time, one per instant at which it changed
	Left   []Departure

	Packets int // that arrived and left through the port
	Waiting int // that arrived for it and were still waiting when the capture ended
	Lost    int // that arrived for it and never left, though packets behind them did
	Local   int // that left without having arrived: sent by the switch itself, or from before the capture
}

// A Departure is the moment at which a packet begins to leave through a port.
type Departure struct {
	At  units.Time
	Len int // frame bytes
}

// after is the index of the first Depth later than t.
func (q *PortQueue) after(t units.Time) int {
	return sort.Search(len(q.Series), func(i int) bool { return q.Series[i].At > t })
}

// At returns the depth at a time.
func (q *PortQueue) At(t units.Time) Depth {
	i := q.after(t)
	if i == 0 {
		return Depth{At: t}
	}
	d := q.Series[i-1]
	d.At = t
	return d
}

// Between returns the largest depth, in bytes, and the mean over [from, to).
func (q *PortQueue) Between(from, to units.Time) (most Depth, mean float64) {
	if to <= from {
		return Depth{}, 0
	}
	now := q.At(from)
	most = now
	add := func(until units.Time) { mean += float64(now.Bytes) * float64(until-now.At) / float64(to-from) }
	for _, d := range q.Series[q.after(from):] {
		if d.At >= to {
			break
		}
		add(d.At)
		if now = d; now.Bytes > most.Bytes {
			most = now
		}
	}
	add(to)
	return most, mean
}

// PacketsWithin returns the least and the most packets that waited from from to
// to, both included.
func (q *PortQueue) PacketsWithin(from, to units.Time) (least, most int) {
	least = q.At(from).Packets
	most = least
	for _, d := range q.Series[q.after(from):] {
		if d.At > to {
			break
		}
		least, most = min(least, d.Packets), max(most, d.Packets)
	}
	return least, most
}

// Excess returns by how many wire bytes a port's departures exceeded its rate: the
// most that left within any span of time beyond what the rate allows in that span.
// One packet does not count, since a packet is seen when it begins to leave.
func (q *PortQueue) Excess() (over units.Bytes) {
	// A bucket drains at link rate: its level when a packet begins to leave is what
	// is still to be sent of the packets before it.
	var level float64
	var last units.Time
	perNS := float64(q.Port.Rate) / 8 / float64(units.Second)
	for i, d := range q.Left {
		if i > 0 {
			level = max(0, level-perNS*float64(d.At-last))
		}
		last = d.At
		over = max(over, units.Bytes(level))
		level += float64(topo.WireBytes(units.Bytes(d.Len - ethernetHeader)))
	}
	return over
}
