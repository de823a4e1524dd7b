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
// left out, and all if the tables were not asked for.
func (f *Found) Maxima(o Options) (jobs []Job, err error) {
	if len(o.Figures) > 0 && !slices.Contains(o.Figures, "tables") {
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
// of the tables, one for each load and none of Maxima's; nil if a point of them is missing.
func (f *Found) once(config, workload, protocol string) (list []int) {
	for i := range f.Jobs {
		j := &f.Jobs[i]
		if j.Study != config || j.Label("workload") != workload || j.Experiment.Protocol != protocol ||
			j.Round != roundTables && j.Round != roundOthers {
			continue
		}
		if f.Points[i] == nil {
			return nil
		}
		list = append(list, i)
	}
	return list
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
