package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/report"
)

// gridConditions are what sweeps or reproductions may differ in beside their figures.
func gridConditions(list []*compared) []report.Condition {
	condition := func(what string, of func(*compared) string) report.Condition {
		f := report.Condition{What: what}
		for _, c := range list {
			f.Of = append(f.Of, of(c))
		}
		return f
	}
	if list[0].paper != nil {
		return []report.Condition{
			condition("The scales differ:", func(c *compared) string { return c.paper.Scale }),
			condition("The engines differ:", func(c *compared) string { return c.paper.Engine }),
			condition("The shares of the scale's messages differ:", func(c *compared) string {
				return fmt.Sprint(c.paper.Samples)
			}),
		}
	}
	each := func(of func(*SweepRow) string) func(*compared) string {
		return func(c *compared) string {
			there := map[string]bool{}
			for i := range c.sweep.Points {
				there[of(&c.sweep.Points[i])] = true
			}
			return strings.Join(slices.Sorted(maps.Keys(there)), ", ")
		}
	}
	first := list[0].sweep
	return []report.Condition{
		condition("The scenarios differ:", func(c *compared) string { return c.sweep.Scenario }),
		condition("The engines differ:", each(func(r *SweepRow) string { return r.Engine })),
		condition("The seeds differ:", each(func(r *SweepRow) string { return fmt.Sprint(r.Seed) })),
		condition("The numbers of hosts differ:", each(func(r *SweepRow) string { return fmt.Sprint(r.Hosts) })),
		condition("Beside the axes, experiments differ from the first result's:", func(c *compared) string {
			return first.otherExperiments(c.sweep)
		}),
	}
}

// otherExperiments says how many points of another sweep are at a place and of a seed and engine of this one, and not
// of the same experiment; "": none is of another.
func (o *SweepOutcome) otherExperiments(other *SweepOutcome) string {
	at := func(o *SweepOutcome, r *SweepRow) string { return o.seeded(r) + " " + r.Engine }
	keys := map[string]string{}
	for i := range o.Points {
		keys[at(o, &o.Points[i])] = o.Points[i].Key
	}
	same, differ := 0, 0
	for i := range other.Points {
		r := &other.Points[i]
		switch key, there := keys[at(other, r)]; {
		case there && key == r.Key:
			same++
		case there:
			differ++
		}
	}
	switch {
	case same+differ == 0:
		return "not known, since no point is of the same seed and engine"
	case differ == 0:
		return ""
	}
	return fmt.Sprintf("%d of the %s that both have", differ, count(same+differ, "point"))
}
