package reproduce

import (
	"cmp"
	"fmt"
	"slices"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/scenarios/paper"
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

// ofOneLength returns the first seed's point at a place that has as many messages as those of other protocols there,
// nil if there is none: that which was run again with all of them, since it sets a maximum, is longer.
func (f *Found) ofOneLength(p Place) *points.Point {
	for i := range f.Jobs {
		if j := &f.Jobs[i]; j.first() && j.Round != roundMaxima && j.place() == p && f.Points[i] != nil {
			return f.Points[i]
		}
	}
	return nil
}

// Seeds returns the points at a place of all seeds, whatever their size, in the order of the
// plan.
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

// Slowdown is the 99th percentile at half load, by the definition that the paper's number
// of the protocol has: for dcPIM until the acknowledgement.
func (f *Found) Slowdown(study, workload, protocol, arrivals string) (v paper.Value, run bool) {
	place := Place{study, workload, Half, protocol, arrivals}
	list := f.At(place)
	for _, p := range list {
		if why := p.NotCarried(); why != "" {
			v.Unstable, v.Why, run = true, why, true
		}
	}
	if list = withMessages(list); len(list) > 0 {
		v.Number, run = median(list, tail), true
	}
	for _, p := range withMessages(f.Seeds(place)) {
		v.Seeds = append(v.Seeds, tail(p))
	}
	return v, run
}

// withMessages leaves out the points without a message that was measured: they have no slowdown.
func withMessages(list []*points.Point) []*points.Point {
	return slices.DeleteFunc(slices.Clone(list), func(p *points.Point) bool {
		return slowdowns(p)[results.AllSizes].Count == 0
	})
}

// tail is a point's 99th percentile of slowdown by the definition of its protocol's authors.
func tail(p *points.Point) float64 {
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
func (f *Found) Goodput(study, workload, protocol string) (v paper.Value, run bool) {
	return f.highest(study, workload, protocol, (*points.Point).Goodput)
}

// Completed is the highest over all loads of the sizes of messages completed, in Gbps a host. There is
// none of points that do not say what was completed, as those of sweep.json.
func (f *Found) Completed(study, workload, protocol string) (v paper.Value, run bool) {
	v, run = f.highest(study, workload, protocol, (*points.Point).Completed)
	return v, run && v.Number > 0
}

// deepest and average are of a point's leaves' queues, in MB.
func deepest(p *points.Point) float64 { return float64(p.Leaves().Max) / 1e6 }
func average(p *points.Point) float64 { return p.Leaves().Mean / 1e6 }

// Queue is the deepest queue of a leaf over all loads, in MB, unstable if one grew without
// bound at any load.
func (f *Found) Queue(study, workload, protocol string) (v paper.Value, run bool) {
	v, run = f.bounded(study, workload, protocol, deepest)
	if v.Unstable && v.Number > 0 {
		v.Why += fmt.Sprintf("; the deepest of a leaf at any load was %.2f MB", v.Number)
	}
	return v, run
}

// MeanQueue is the mean queue of a leaf at the load at which that is the highest, in MB,
// unstable as Queue is.
func (f *Found) MeanQueue(study, workload, protocol string) (v paper.Value, run bool) {
	return f.bounded(study, workload, protocol, average)
}

// bounded is the highest of a queue's figure, unstable if a queue grew without bound.
func (f *Found) bounded(
	study, workload, protocol string, of func(*points.Point) float64,
) (v paper.Value, run bool) {
	v, run = f.highest(study, workload, protocol, of)
	for _, load := range f.Loads(study) {
		for _, p := range f.At(Place{study, workload, load, protocol, "released"}) {
			if why := p.QueueGrows(); why != "" {
				v.Unstable, v.Why = true, "at load "+load+": "+why
			}
		}
	}
	return v, run
}

// highest is the highest of a figure over all loads, of released arrivals; there is none
// until all are run that are needed (see Needless), nor where the plan has not the highest load.
func (f *Found) highest(
	study, workload, protocol string, of func(*points.Point) float64,
) (v paper.Value, run bool) {
	if !f.hasLoads(study, workload, protocol) || !f.hasHighest(study, workload, protocol) {
		return paper.Value{}, false
	}
	for _, load := range f.loadsOf(study, workload, protocol) {
		list := f.At(Place{study, workload, load, protocol, "released"})
		x := median(list, of)
		if run && x <= v.Number {
			continue
		}
		v, run = paper.Value{Number: x}, true
		if len(list) > 1 {
			for _, p := range list {
				v.Seeds = append(v.Seeds, of(p))
			}
		}
	}
	return v, run
}

// median is that of a figure over points of several seeds. A full point is alone.
func median(list []*points.Point, of func(*points.Point) float64) float64 {
	var values []float64
	for _, p := range list {
		values = append(values, of(p))
	}
	slices.Sort(values)
	return report.Median(values)
}
