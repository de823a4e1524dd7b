package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sirdbed/capture/results"
)

// loadOf is what the variant's streams offer, as a fraction of the hosts' links.
func loadOf(v *results.Variant) (load float64) {
	for i := range v.Experiment.Streams {
		load += v.Experiment.Streams[i].Load
	}
	return load
}

// leastLoads is how many loads of a protocol make a curve.
const leastLoads = 3

// queueByGoodput draws the queues of switches, the deepest and the mean, against goodput: a
// curve for each protocol over its loads, as the paper's figures do.
func (d *drawing) queueByGoodput() {
	d.overLoads(Figure{
		Name: "queue-by-goodput", Title: "Deepest queue of a switch by goodput",
		Caption: "The deepest queue of a switch, the sum over its ports, against goodput, at the loads " +
			"that were run. A hollow point is of an unstable run.",
	}, func(v *results.Variant) float64 { return float64(v.Queue.Max) })
	d.overLoads(Figure{
		Name: "queue-by-goodput-mean", Title: "Mean queue of switches by goodput",
		Caption: "The mean queue over switches and time, against goodput, at the loads that were run. " +
			"A hollow point is of an unstable run.",
	}, func(v *results.Variant) float64 { return v.Queue.Mean })
}

// overLoads draws bytes by goodput, if a protocol has leastLoads loads.
func (d *drawing) overLoads(f Figure, queue func(*results.Variant) float64) {
	f.X, f.Y = Axis{Label: "goodput per host (Gbps)"}, Axis{Label: "queue (KB)", Log: true}
	least, most, right := math.Inf(1), 0.0, 0.0
	for i, protocol := range protocolsOf(d.variants) {
		var list []*results.Variant
		loads := map[float64]bool{}
		for _, v := range d.variants {
			if v.Protocol == protocol && loadOf(v) > 0 && queue(v) > 0 {
				list = append(list, v)
				loads[loadOf(v)] = true
			}
		}
		if len(loads) < leastLoads {
			continue
		}
		slices.SortStableFunc(list, func(a, b *results.Variant) int { return cmp.Compare(loadOf(a), loadOf(b)) })
		s := Series{Name: protocol, Protocol: protocol, Look: i, Shape: Curve}
		for _, v := range list {
			p := Point{X: v.Goodput.Gbps, Y: queue(v) / 1000, Hollow: v.Stability.Unstable,
				Note: fmt.Sprintf("load %.3g %%", 100*loadOf(v))}
			if p.Hollow {
				p.Note += ", unstable"
			}
			least, most, right = min(least, p.Y), max(most, p.Y), max(right, p.X)
			s.Points = append(s.Points, p)
		}
		f.Series = append(f.Series, s)
	}
	if most == 0 {
		return
	}
	f.X.Max, f.Y.Min, f.Y.Max = right*1.05, least*0.7, most*1.4
	d.add(f)
}
