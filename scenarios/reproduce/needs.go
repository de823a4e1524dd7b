package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/scenarios/paper"
)

// isOf reports whether a figure, or the tables, need a job. Figures are of the first seed and
// released arrivals; of some only one load, workload or protocol is drawn.
func (j *Job) isOf(figure string) bool {
	i := slices.IndexFunc(studies, func(s study) bool { return s.name == j.Study })
	if i < 0 || !slices.Contains(studies[i].figures, figure) {
		return false
	}
	if !studies[i].tables || figure == "tables" {
		return true
	}
	workload, load := j.Label("workload"), j.Label("load")
	drawn := true
	switch figure {
	case "fig1":
		drawn = workload == "wkc" && j.Experiment.Protocol == "homa"
	case "fig7":
		drawn = workload != "wkb" && load == Half
	case "fig8":
		drawn = workload != "wkb" && load == barsLoad
	case "fig12":
		drawn = workload == "wkb" && load == Half
	}
	return drawn && j.first()
}

// barsLoad is the load at which figure 8 has what figure 7 has at half load.
const barsLoad = "0.7"

// maximumFigures are the figures that show a maximum over all loads, or the points that set one.
var maximumFigures = []string{"fig5", "fig6", "fig13", "tables"}

// HasMaxima reports whether the last round of a plan may have points (see Found.Maxima): any of the figures asked for
// has a maximum over all loads; none: all are asked for.
func (o *Options) HasMaxima() bool {
	return len(o.Figures) == 0 ||
		slices.ContainsFunc(o.Figures, func(f string) bool { return slices.Contains(maximumFigures, f) })
}

// hasHighest reports whether a configuration, workload and protocol has a point at the highest load:
// without it a maximum over all loads is none.
func (f *Found) hasHighest(study, workload, protocol string) bool {
	return len(f.At(Place{study, workload, HighestLoad(), protocol, "released"})) > 0
}

// Needless reports whether job i need not be run any more: its protocol cannot carry half the load, of
// which it has points as well as of the highest load, and the job is of a load between the two. A
// maximum over all loads is then over those that were run.
func (f *Found) Needless(i int) bool {
	return f.Points[i] == nil && f.Jobs[i].Round == roundOthers && f.isNeedless(f.Jobs[i].place())
}

// isNeedless reports the same of a place without a point.
func (f *Found) isNeedless(p Place) bool {
	if !hasCells(p.Study) || p.Load <= Half || p.Load >= HighestLoad() || len(f.At(p)) > 0 {
		return false
	}
	p.Load = Half
	return f.hasHighest(p.Study, p.Workload, p.Protocol) && slices.ContainsFunc(f.At(p), func(p *points.Point) bool {
		return p.NotCarried() != ""
	})
}

// loadsOf lists the loads of a configuration that a maximum of a workload and protocol is over.
func (f *Found) loadsOf(study, workload, protocol string) []string {
	return slices.DeleteFunc(f.Loads(study), func(load string) bool {
		return f.isNeedless(Place{study, workload, load, protocol, "released"})
	})
}

// hasLoads reports whether all loads of the plan that a maximum is over have points.
func (f *Found) hasLoads(study, workload, protocol string) bool {
	loads := f.loadsOf(study, workload, protocol)
	return len(loads) > 0 && !slices.ContainsFunc(loads, func(load string) bool {
		return len(f.At(Place{study, workload, load, protocol, "released"})) == 0
	})
}

// NeedlessJobs says which protocols and workloads have needless jobs, and how many; "" if none has.
func (f *Found) NeedlessJobs() string {
	var of []string
	n := 0
	for i := range f.Jobs {
		if !f.Needless(i) {
			continue
		}
		n++
		p := f.Jobs[i].place()
		if name := p.Protocol + " in " + p.Study + " with " + p.Workload; !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d points at the loads between half and the highest, of what cannot carry half: %s.", n,
		strings.Join(of, ", "))
}

// PartialMaxima reports whether a maximum over all loads is left out since the plan does not have the
// highest load.
func (f *Found) PartialMaxima() bool {
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range f.Protocols(config) {
				if f.hasLoads(config, workload, protocol) && !f.hasHighest(config, workload, protocol) {
					return true
				}
			}
		}
	}
	return false
}
