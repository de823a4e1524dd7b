package results

import "maps"

// CurveRanks are the ranks at which Curves have values: evenly up to 0.95, closer to 1
// beyond it.
var CurveRanks = curveRanks()

func curveRanks() (ranks []float64) {
	for i := range 20 {
		ranks = append(ranks, float64(i)*0.05)
	}
	return append(ranks, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1)
}

// Curves are cumulative distributions: values at CurveRanks.
type Curves struct {
	Slowdown map[string]map[string][]float64 `json:"slowdown,omitempty"`    // by definition and size group, but incast
	Latency  map[string][]float64            `json:"latency_ns,omitempty"`  // by stream
	Queues   map[string][]float64            `json:"queue_bytes,omitempty"` // by class of queues, over time
}

// curves are those of what was folded.
func (f *Fold) curves() Curves {
	c := Curves{
		Slowdown: map[string]map[string][]float64{}, Latency: map[string][]float64{}, Queues: map[string][]float64{},
	}
	of := func(s sampler) []float64 { return s.(*binned).Curve(CurveRanks) }
	for definition, groups := range f.tally.all.groups {
		if len(groups) > 0 {
			c.Slowdown[definition] = map[string][]float64{}
		}
		for name, s := range groups {
			c.Slowdown[definition][name] = of(s)
		}
	}
	for i, s := range f.tally.samples {
		if values := of(s.latency); values != nil {
			c.Latency[f.tally.streams[i].Name] = values
		}
	}
	for name, h := range f.queues.classes {
		c.Queues[name] = h.Curve(CurveRanks)
	}
	maps.DeleteFunc(c.Queues, func(_ string, values []float64) bool { return values == nil })
	return c
}
