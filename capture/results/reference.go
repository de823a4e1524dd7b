package results

import (
	"cmp"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// referenceSteps is into how many steps a reference cuts the time at most, and
// referenceStep the least length of one.
const (
	referenceSteps = 2000
	referenceStep  = 10 * units.Microsecond
)

// A reference is the fabric of a run without its protocol: the same messages flow
// over links of a share of their rates. In each step the messages with the fewest
// bytes left go first, and take what is left of the sender's link, the receiver's,
// and their racks' links to the spines.
//
// It says what messages that have happened to come leave undelivered in a network
// of known capacity. What random arrivals add to a backlog, they add to the
// reference's too.
type reference struct {
	fabric *topo.Fabric
	flows  []fluid    // by when they flow
	delay  units.Time // the longest propagation of one
	until  units.Time
	step   units.Time
	from   units.Time // the mean backlog is taken from here
}

// A fluid is a message in a reference.
type fluid struct {
	at       units.Time // offered
	flows    units.Time // a propagation later, when the receiver can have its first byte
	src, dst int32
	size     float64 // payload
	wire     float64
	left     float64 // wire bytes to be carried
}

// before compares messages by which goes first.
func (f fluid) before(g fluid) int {
	return cmp.Or(cmp.Compare(f.left, g.left), cmp.Compare(f.at, g.at), cmp.Compare(f.src, g.src))
}

// merge appends two ordered lists in order.
func merge(to, a, b []fluid) []fluid {
	for len(a) > 0 && len(b) > 0 {
		if a[0].before(b[0]) <= 0 {
			to, a = append(to, a[0]), a[1:]
		} else {
			to, b = append(to, b[0]), b[1:]
		}
	}
	return append(append(to, a...), b...)
}

func newReference(f *topo.Fabric, list []Message, framing *topo.Framing, from, until units.Time) *reference {
	r := &reference{fabric: f, from: from, until: until, step: max(referenceStep, until/referenceSteps)}
	for i := range list {
		m := &list[i]
		if m.Offered >= until || m.Src == m.Dst || m.Size <= 0 {
			continue
		}
		wire := m.Size
		if framing != nil {
			wire = framing.WireOf(m.Size)
		}
		delay := f.Propagation(f.Path(m.Src, m.Dst, 0))
		r.delay = max(r.delay, delay)
		r.flows = append(r.flows, fluid{at: m.Offered, flows: m.Offered + delay, src: int32(m.Src), dst: int32(m.Dst),
			size: float64(m.Size), wire: float64(wire)})
	}
	slices.SortStableFunc(r.flows, func(a, b fluid) int { return cmp.Compare(a.flows, b.flows) })
	return r
}

// overhead is wire bytes for a byte of payload, over all messages.
func (r *reference) overhead() float64 {
	size, wire := 0.0, 0.0
	for i := range r.flows {
		size += r.flows[i].size
		wire += r.flows[i].wire
	}
	return wire / max(size, 1)
}

// backlog is the payload that is undelivered if links have a share of their rates,
// mean over the time from r.from on.
func (r *reference) backlog(share float64) float64 {
	links := newBudgets(r.fabric)
	// waiting are the messages of which nothing was carried in the step before, in
	// their order, and moved are the others and those that are new.
	var waiting, moved, all []fluid
	arrived, sum, n := 0, 0.0, 0
	for at := units.Time(0); at < r.until; at += r.step {
		for arrived < len(r.flows) && r.flows[arrived].flows <= at {
			f := r.flows[arrived]
			f.left = f.wire
			moved = append(moved, f)
			arrived++
		}
		slices.SortFunc(moved, fluid.before)
		all = merge(all[:0], waiting, moved)
		links.refill(share, r.step)
		waiting, moved = waiting[:0], moved[:0]
		left := 0.0
		for i := range all {
			f := &all[i]
			x := links.take(f)
			f.left -= x
			switch {
			case x == 0:
				waiting = append(waiting, *f)
			case f.left > 0:
				moved = append(moved, *f)
			}
			left += f.left / f.wire * f.size
		}
		if end := at + r.step; end > r.from {
			for i := arrived; i < len(r.flows) && r.flows[i].flows <= end+r.delay; i++ {
				if r.flows[i].at <= end {
					left += r.flows[i].size
				}
			}
			sum, n = sum+left, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// share is that of their rates with which links would leave a backlog.
func (r *reference) share(backlog float64) float64 {
	low, high := 0.0, 2.0
	for range 10 {
		if middle := (low + high) / 2; r.backlog(middle) > backlog {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// budgets are the wire bytes that links can still carry in a step.
type budgets struct {
	full [4][]float64 // at their rates, by ns: up and down of hosts, up and down of racks
	left [4][]float64
	rack []int32 // of each host
}

const (
	hostUp = iota
	hostDown
	rackUp
	rackDown
)

func newBudgets(f *topo.Fabric) *budgets {
	b := &budgets{}
	for i, n := range []int{len(f.Hosts), len(f.Hosts), f.Spec.Leaves, f.Spec.Leaves} {
		b.full[i], b.left[i] = make([]float64, n), make([]float64, n)
	}
	for _, h := range f.Hosts {
		b.full[hostUp][h] = float64(f.Uplink(h).Rate) / 8e9
		b.full[hostDown][h] = float64(f.Downlink(h).Rate) / 8e9
		b.rack = append(b.rack, int32(f.Nodes[h].Leaf-1))
	}
	for i := range f.Ports {
		p := &f.Ports[i]
		if leaf := &f.Nodes[p.Node]; p.Core && leaf.Kind == topo.Leaf {
			b.full[rackUp][leaf.Number-1] += float64(p.Rate) / 8e9
			b.full[rackDown][leaf.Number-1] += float64(f.Ports[p.Reverse].Rate) / 8e9
		}
	}
	return b
}

func (b *budgets) refill(share float64, step units.Time) {
	for i := range b.full {
		for j, rate := range b.full[i] {
			b.left[i][j] = share * rate * float64(step)
		}
	}
}

// take carries as much of a message as links can.
func (b *budgets) take(f *fluid) float64 {
	x := min(f.left, b.left[hostUp][f.src], b.left[hostDown][f.dst])
	from, to := b.rack[f.src], b.rack[f.dst]
	if from != to {
		x = min(x, b.left[rackUp][from], b.left[rackDown][to])
		b.left[rackUp][from] -= x
		b.left[rackDown][to] -= x
	}
	b.left[hostUp][f.src] -= x
	b.left[hostDown][f.dst] -= x
	return x
}
