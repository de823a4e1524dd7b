package reproduce

import (
	"slices"

	"sirdbed/capture/points"
	"sirdbed/scenarios/paper"
)

// Maxima lists the points that set a maximum of the tables, of goodput or of a leaf's
// queue over all loads, once more with all of a point's messages. They follow from what
// was found: of a configuration, workload and protocol of which points are missing there
// are none, and none for queues that grew without bound. Those that are in f already are
// left out, and all if no figure was asked for that shows a maximum. With all messages a point may set no
// maximum any more: when those listed are there, Maxima may list others, and none in the end.
func (f *Found) Maxima(o Options) (jobs []Job, err error) {
	if !o.HasMaxima() {
		return nil, nil
	}
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range f.Protocols(config) {
				loads := f.once(config, workload, protocol)
				if loads == nil {
					continue
				}
				set := []int{f.highestOf(loads, (*points.Point).Goodput)}
				if !slices.ContainsFunc(loads, func(i int) bool { return f.Points[i].QueueGrows() != "" }) {
					set = append(set, f.highestOf(loads, deepest))
				}
				slices.Sort(set)
				for _, i := range slices.Compact(set) {
					if f.Jobs[i].Full {
						continue
					}
					j := f.Jobs[i]
					j.Full, j.Round, j.Grid = true, roundMaxima, j.Grid+" full"
					if err := j.fill(&o); err != nil {
						return nil, err
					}
					if slices.ContainsFunc(f.Jobs, func(k Job) bool { return k.Address == j.Address }) {
						continue
					}
					jobs = append(jobs, j)
				}
			}
		}
	}
	return jobs, nil
}

// once lists the first seed's jobs of a configuration, workload and protocol with the arrivals
// of the tables, one for each load: that with all messages where there is its point. It is nil if a
// load has no point and needs one.
func (f *Found) once(config, workload, protocol string) (list []int) {
	for i := range f.Jobs {
		j := &f.Jobs[i]
		if j.Study != config || j.Label("workload") != workload || j.Experiment.Protocol != protocol ||
			j.Round != roundTables && j.Round != roundOthers {
			continue
		}
		if full := f.fullOf(j); full >= 0 {
			list = append(list, full)
			continue
		}
		switch {
		case f.Points[i] != nil:
			list = append(list, i)
		case !f.Needless(i):
			return nil
		}
	}
	return list
}

// fullOf returns the job with all messages where another one is, -1 if there is no point of it.
func (f *Found) fullOf(j *Job) int {
	for i := range f.Jobs {
		k := &f.Jobs[i]
		if k.Full && f.Points[i] != nil && k.Experiment.Seed == j.Experiment.Seed && k.place() == j.place() {
			return i
		}
	}
	return -1
}

// highestOf returns the job among some whose point has the most of a figure, of equal ones
// the first.
func (f *Found) highestOf(list []int, of func(*points.Point) float64) int {
	best := list[0]
	for _, i := range list[1:] {
		if of(f.Points[i]) > of(f.Points[best]) {
			best = i
		}
	}
	return best
}
