package topo

import "sirdbed/topo/units"

// FastestExact is UnloadedExact over all paths together: no way to spread a
// message's packets over them, in whatever order, is faster over an idle fabric.
// Where there is one path, packets come in order.
//
// Of n full packets each takes up on the sender's link and down on the receiver's.
// All paths together, which take a full packet each time that their slowest hop
// needs for one, have carried no more than j-1 of them over the core by g(j) after
// they began. So for each j:
//
//   - The first begins after up. n+1-j are over the core at up + g(j) or later, and
//     then need the receiver's link one after the other: up + g(j) + (n+1-j)*down.
//   - The same seen from the end, where n+1-j have to leave the sender's link g(j) or
//     more before the last is over the core: (n+1-j)*up + g(j) + down.
//
// A last, shorter packet may leave before the others, between them or after them.
// Whatever of it the receiver's link has not carried by up + g(j) is still to be carried
// then. For each such order the largest of these bounds holds; the latency is the least
// over the orders.
//
// A longer message is never faster. At the byte that fills the last packet the latency
// may jump, where a path is slower than the hosts' links, by up to a full packet's time
// over the slowest hop: a shorter packet counts as if it had a path of its own, a full
// one waits for a path as the others do.
func (f *Fabric) FastestExact(src, dst HostID, size units.Bytes, fr Framing) units.Time {
	if f.onePath(src, dst) {
		return f.UnloadedExact(src, dst, size, fr)
	}
	c := f.crossing(src, dst, size, fr)
	return f.Uplink(src).Delay + f.Downlink(dst).Delay + units.Time((c.least()+500)/1000)
}

// A crossing is a message's way over all paths, in ps, without the delays of the
// hosts' links.
type crossing struct {
	full     int64 // packets
	up, down int64 // a full packet's time on the sender's link, and on the receiver's
	lanes    []lane
	short    struct{ up, core, down int64 } // the last packet's, if it is shorter; else 0
}

func (f *Fabric) crossing(src, dst HostID, size units.Bytes, fr Framing) (c crossing) {
	up, down := f.Uplink(src).Rate, f.Downlink(dst).Rate
	full, last := fr.split(size)
	wire := fr.Wire(fr.MSS)
	c.full, c.up, c.down = full, up.Picoseconds(wire), down.Picoseconds(wire)
	for i, path := range f.paths(src, dst) {
		core := path[1 : len(path)-1]
		c.lanes = append(c.lanes, f.lane(core, wire))
		if last > 0 {
			alone := f.lane(core, fr.Wire(last)).next
			if i == 0 || alone < c.short.core {
				c.short.core = alone
			}
		}
	}
	if last > 0 {
		c.short.up, c.short.down = up.Picoseconds(fr.Wire(last)), down.Picoseconds(fr.Wire(last))
	}
	return c
}

// An order is a place of the shorter packet among the others: when the first of these
// can begin, when the shorter is over the core, and when all are there, at the soonest.
type order struct{ begin, over, end int64 }

// orders are the shorter packet's places: first, between others, last.
func (c *crossing) orders() []order {
	s, all := &c.short, c.full*c.up+c.short.up
	last := order{0, all + s.core, all + s.core + s.down}
	if c.full == 0 || s.up == 0 {
		return []order{last}
	}
	over := c.lanes[0].next
	for _, l := range c.lanes[1:] {
		over = min(over, l.next)
	}
	others := all + over + c.down // with a shorter one before the last of them
	list := []order{{s.up, s.up + s.core, others}, last}
	if c.full > 1 {
		list = append(list, order{0, c.up + s.up + s.core, others})
	}
	return list
}

// least is the bound of the best order.
func (c *crossing) least() int64 {
	orders, steady := c.orders(), c.steady()
	for j := int64(1); j <= c.full; j++ {
		if j == looked && c.full > 2*looked {
			j = c.full - looked
			skip(c.lanes, j-looked)
		}
		g, rest := take(c.lanes), c.full+1-j
		for i := range orders {
			o := &orders[i]
			over := o.begin + c.up + g
			short := c.short.down - min(c.short.down, max(0, over-o.over)) // not yet carried
			o.end = max(o.end, over+rest*c.down+short, o.begin+rest*c.up+g+c.down)
		}
		if steady {
			break // further bounds are no larger
		}
	}
	least := orders[0].end
	for _, o := range orders[1:] {
		least = min(least, o.end)
	}
	return least
}

// steady reports whether each path carries packets no slower than the hosts' links.
func (c *crossing) steady() bool {
	for _, l := range c.lanes {
		if l.every > min(c.up, c.down) {
			return false
		}
	}
	return true
}
