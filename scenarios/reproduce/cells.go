package reproduce

import (
	"cmp"
	"slices"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
)

// Found are the points of a plan that there are.
type Found struct {
	Jobs   []Job
	Points []*points.Point // by job; nil: missing
}

// A Place is where a point of the tables is, without its seed.
type Place struct {
	Study    string `json:"config"`
	Workload string `json:"workload"`
	Load     string `json:"load"` // as the paper has it: a share of what the configuration carries
	Protocol string `json:"protocol"`
	Arrivals string `json:"arrivals"`
}

// place is where a job is.
func (j *Job) place() Place {
	return Place{j.Study, j.Label("workload"), j.Label("load"), j.Experiment.Protocol, j.Arrivals}
}

// At returns the points at a place: the full ones, if there are any, else the others, by
// their seeds.
func (f *Found) At(p Place) (list []*points.Point) {
	full := false
	for i := range f.Jobs {
		if f.Points[i] == nil || f.Jobs[i].place() != p {
			continue
		}
		if f.Jobs[i].Full && !full {
			list, full = nil, true
		}
		if f.Jobs[i].Full == full {
			list = append(list, f.Points[i])
		}
	}
	slices.SortFunc(list, func(a, b *points.Point) int { return cmp.Compare(a.Experiment.Seed, b.Experiment.Seed) })
	return list
}

// Seeds returns the points at a place of all seeds, whatever their size, the first seed's
// largest first.
func (f *Found) Seeds(p Place) (list []*points.Point) {
	for i := range f.Jobs {
		if f.Points[i] != nil && f.Jobs[i].place() == p {
			list = append(list, f.Points[i])
		}
	}
	return list
}

// Loads lists the loads of a study, in order.
func (f *Found) Loads(study string) (loads []string) {
	for i := range f.Jobs {
		if load := f.Jobs[i].Label("load"); f.Jobs[i].Study == study && load != "" && !slices.Contains(loads, load) {
			loads = append(loads, load)
		}
	}
	slices.Sort(loads)
	return loads
}

// Protocols lists the protocols of a study, the paper's first.
func (f *Found) Protocols(study string) (list []string) {
	for _, p := range PaperProtocols {
		if slices.ContainsFunc(f.Jobs, func(j Job) bool { return j.Study == study && j.Experiment.Protocol == p }) {
			list = append(list, p)
		}
	}
	for i := range f.Jobs {
		if p := f.Jobs[i].Experiment.Protocol; f.Jobs[i].Study == study && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// A Figure is one of the figures of a table's cell.
type Figure struct {
	Value    float64
	Unstable bool
	Why      string    // it is unstable, or there is none
	Seeds    []float64 // of all seeds
	There    bool
}

// Slowdown is the 99th percentile at half load, by the definition that the paper's number
// of the protocol has: for dcPIM until the acknowledgement.
func (f *Found) Slowdown(study, workload, protocol, arrivals string) (c Figure) {
	place := Place{study, workload, Half, protocol, arrivals}
	list := f.At(place)
	if len(list) == 0 {
		return Figure{Why: "not run"}
	}
	c.Why = "no message has come"
	for _, p := range list {
		if why := notCarried(p); why != "" {
			c.Unstable, c.There, c.Why = true, true, why
		}
	}
	if list = withMessages(list); len(list) > 0 {
		c.Value, c.There = median(list, P99), true
		if !c.Unstable {
			c.Why = ""
		}
	}
	for _, p := range withMessages(f.Seeds(place)) {
		c.Seeds = append(c.Seeds, P99(p))
	}
	return c
}

// withMessages leaves out the points without a message that was measured: they have no slowdown.
func withMessages(list []*points.Point) []*points.Point {
	return slices.DeleteFunc(slices.Clone(list), func(p *points.Point) bool {
		return slowdowns(p)[results.AllSizes].Count == 0
	})
}

// P99 is a point's 99th percentile of slowdown by the definition of its protocol's authors.
func P99(p *points.Point) float64 {
	return slowdowns(p)[results.AllSizes].P99
}

// slowdowns are a point's by size group, by the definition of its protocol's authors: until the
// acknowledgement, if it is so measured.
func slowdowns(p *points.Point) map[string]stats.Summary {
	if acked, ok := p.Result.Slowdown[results.Acked]; ok {
		return acked
	}
	return p.Result.Slowdown[results.Paper]
}

// Goodput is the highest over all loads, in Gbps a host.
func (f *Found) Goodput(study, workload, protocol string) (c Figure) {
	return f.highest(study, workload, protocol, goodput)
}

// goodput is that of a point, in Gbps a host; deepest and average are of its leaves' queues,
// in MB.
func goodput(p *points.Point) float64 { return p.Result.GoodputGbps }
func deepest(p *points.Point) float64 { return float64(p.Leaves().Max) / 1e6 }
func average(p *points.Point) float64 { return p.Leaves().Mean / 1e6 }

// unbounded says how a leaf's queue grew without bound in a point, "" if none did.
func unbounded(p *points.Point) string {
	if p.Unbounded != "" || p.Course == nil {
		return p.Unbounded
	}
	return p.Course.QueuesGrow()
}

// Queue is the deepest queue of a leaf over all loads, in MB, unstable if one grew without
// bound at any load.
func (f *Found) Queue(study, workload, protocol string) (c Figure) {
	c = f.highest(study, workload, protocol, deepest)
	for _, load := range f.Loads(study) {
		for _, p := range f.At(Place{study, workload, load, protocol, "released"}) {
			if why := unbounded(p); why != "" {
				c.Unstable, c.Why = true, "at load "+load+": "+why
			}
		}
	}
	return c
}

// MeanQueue is the mean queue of a leaf at the load at which that is the highest, in MB.
func (f *Found) MeanQueue(study, workload, protocol string) Figure {
	return f.highest(study, workload, protocol, average)
}

// highest is the highest of a figure over all loads, of released arrivals; there is none
// until all loads are there.
func (f *Found) highest(study, workload, protocol string, of func(*points.Point) float64) (c Figure) {
	c.Why = "not run"
	for _, load := range f.Loads(study) {
		list := f.At(Place{study, workload, load, protocol, "released"})
		if len(list) == 0 {
			return Figure{Why: "not run at load " + load}
		}
		v := median(list, of)
		if c.There && v <= c.Value {
			continue
		}
		c = Figure{Value: v, There: true}
		if len(list) > 1 {
			for _, p := range list {
				c.Seeds = append(c.Seeds, of(p))
			}
		}
	}
	return c
}

// median is that of a figure over points of several seeds. A full point is alone.
func median(list []*points.Point, of func(*points.Point) float64) float64 {
	var values []float64
	for _, p := range list {
		values = append(values, of(p))
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
