package capture

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// PortDepths is how deep the queue of a port was, and for how long.
type PortDepths struct {
	Port    *topo.Port
	Packets int // that left

	// Of all windows, some packets of two: those that left after they had arrived, and without.
	passed, local int
	held          map[int64]units.Time // by depth in bytes
}

// Depths rebuilds the queues of a switch as Reconstruct does, in windows of the
// capture that overlap, so that memory does not grow with the capture. Ports of which
// the capture has arrivals only or departures only are left out. If an error ends the
// capture, what the frames before it show is returned with it.
func Depths(f *topo.Fabric, node *topo.Node, frames iter.Seq2[Frame, error]) ([]*PortDepths, error) {
	return depthsBy(f, node, frames, 1<<19, 1<<16)
}

// depthsBy is Depths with the size of windows, and of their overlap, in frames. A queue
// must not hold packets for longer than half an overlap takes.
func depthsBy(f *topo.Fabric, node *topo.Node, frames iter.Seq2[Frame, error], window, overlap int) (
	list []*PortDepths, err error) {
	if node.Kind == topo.Host {
		return nil, fmt.Errorf("%s is a host: what waits in it passes no interface before it leaves", node.Name)
	}
	for _, id := range node.Ports {
		list = append(list, &PortDepths{Port: &f.Ports[id], held: map[int64]units.Time{}})
	}
	var seen []sighting
	from := -MaxTime
	for fr, e := range frames {
		if e != nil {
			err = e
			break
		}
		s, ok := sight(&fr)
		if !ok {
			continue
		}
		if seen = append(seen, s); len(seen) < window {
			continue
		}
		until := seen[window-overlap/2].at
		rest := slices.Clone(seen[window-overlap:])
		add(list, rebuildFrom(f, node, seen), from, until)
		seen, from = append(seen[:0], rest...), until
	}
	if len(seen) > 0 {
		r := rebuildFrom(f, node, seen)
		add(list, r, from, r.To+1)
	}
	return slices.DeleteFunc(list, func(d *PortDepths) bool { return d.passed == 0 || d.local > d.passed }), err
}

// add adds what a window shows of the time from from to until.
func add(list []*PortDepths, r *Reconstruction, from, until units.Time) {
	from = max(from, r.From)
	for i, q := range r.Ports {
		d := list[i]
		d.passed += q.Packets
		d.local += q.Local
		for _, left := range q.Left {
			if left.At >= from && left.At < until {
				d.Packets++
			}
		}
		now := q.At(from)
		for _, next := range q.Series[q.after(from):] {
			if next.At >= until {
				break
			}
			d.held[now.Bytes] += next.At - now.At
			now = next
		}
		d.held[now.Bytes] += until - now.At
	}
}

// Max returns the largest depth, in bytes.
func (d *PortDepths) Max() (most int64) {
	for depth := range d.held {
		most = max(most, depth)
	}
	return most
}

// Mean returns the mean depth over time, in bytes.
func (d *PortDepths) Mean() float64 {
	var sum, total float64
	for depth, held := range d.held {
		sum += float64(depth) * float64(held)
		total += float64(held)
	}
	return sum / max(total, 1)
}

// Quantile returns the depth, in bytes, that was not exceeded for a share q of the time.
func (d *PortDepths) Quantile(q float64) (depth int64) {
	var total, below units.Time
	for _, held := range d.held {
		total += held
	}
	for _, depth = range slices.Sorted(maps.Keys(d.held)) {
		if below += d.held[depth]; float64(below) >= q*float64(total) {
			break
		}
	}
	return depth
}
