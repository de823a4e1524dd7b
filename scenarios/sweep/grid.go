// Package sweep makes experiments of a scenario and axes: each variant and protocol at each
// combination of the axes' settings.
package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/topo/limit"
)

// A Grid says what to sweep over.
type Grid struct {
	Path     string             // of the scenario: a file, or a name in the binary
	BuiltIn  bool               // it is a name in the binary, whatever files there are
	Changes  []scenarios.Change // to the scenario, before the axes'
	Axes     []scenarios.Axis   // beside the scenario's own; one of the same name replaces that
	Engine   emu.EngineName     // "": the scenario's
	Variants []string           // labels or names of variants; none: all
	// Only has the settings of axes, by their labels, that are wanted; those of an axis that
	// it does not have all are.
	Only map[string][]string
}

// A Job is one point of a grid.
type Job struct {
	Grid       string       // which grid it is of, in names, where there are several
	At         []Coordinate // where: by axis, then variant and protocol
	Experiment emu.Experiment
	Engine     emu.EngineName
	Address    points.Address
	Cost       float64 // expected seconds of a processor on the model, roughly: see Cost
}

// A Coordinate is where a job is on one axis.
type Coordinate struct{ Axis, Label string }

// The axes that every grid has behind its own, where they have more than one setting.
const (
	VariantAxis  = "variant"
	ProtocolAxis = "protocol"
)

// SeedAxis is the axis whose settings are repetitions: it sets the seed, and no other axis does.
const SeedAxis = scenarios.SeedPath

// Name names a job in progress and errors.
func (j *Job) Name() string {
	var parts []string
	if j.Grid != "" {
		parts = append(parts, j.Grid)
	}
	for _, c := range j.At {
		if c.Axis == VariantAxis || c.Axis == ProtocolAxis {
			parts = append(parts, c.Label)
		} else {
			parts = append(parts, c.Axis+"="+c.Label)
		}
	}
	if len(parts) == 0 {
		return j.Experiment.Variant
	}
	return strings.Join(parts, " ")
}

// Label is where a job is on an axis, "" if the grid has no such axis.
func (j *Job) Label(axis string) string {
	for _, c := range j.At {
		if c.Axis == axis {
			return c.Label
		}
	}
	return ""
}

// Jobs lists the points of a grid in the order of its axes, the last running fastest. Each
// experiment is there once. scenario is the one that the axes change.
func (g *Grid) Jobs() (jobs []Job, scenario *scenarios.Scenario, err error) {
	scenario, err = g.load(g.Changes)
	if err != nil {
		return nil, nil, err
	}
	axes, err := g.axes(scenario)
	if err != nil {
		return nil, nil, err
	}
	settings, total := make([][]scenarios.Setting, len(axes)), 1
	for i := range axes {
		if settings[i], err = axes[i].Settings(); err != nil {
			return nil, nil, fmt.Errorf("axis %s: %w", axes[i].Axis, err)
		}
		if only, ok := g.Only[axes[i].Axis]; ok {
			settings[i] = slices.DeleteFunc(settings[i], func(s scenarios.Setting) bool {
				return !slices.Contains(only, s.Label)
			})
		}
		if total *= len(settings[i]); total*len(scenario.Labels()) > limit.MaxPoints {
			return nil, nil, fmt.Errorf("the grid has more than %d points", limit.MaxPoints)
		}
	}
	without := map[string]bool{VariantAxis: true, ProtocolAxis: true}
	for n := range total {
		chosen := make([]scenarios.Setting, len(axes))
		for i := len(axes) - 1; i >= 0; i-- {
			chosen[i] = settings[i][n%len(settings[i])]
			n /= len(settings[i])
		}
		at, changes := make([]Coordinate, len(axes)), slices.Clone(g.Changes)
		for i := range axes {
			at[i] = Coordinate{axes[i].Axis, chosen[i].Label}
			changes = append(changes, chosen[i].Changes...)
		}
		list, s, err := g.at(at, changes)
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, list...)
		if len(s.Variants) > 1 {
			without[VariantAxis], without[ProtocolAxis] = false, false
		}
		if len(s.Protocols) > 1 || jobs[0].Experiment.Protocol != list[0].Experiment.Protocol {
			without[ProtocolAxis] = false
		}
	}
	for i := range jobs {
		jobs[i].At = slices.DeleteFunc(jobs[i].At, func(c Coordinate) bool { return without[c.Axis] })
	}
	jobs = unique(jobs)
	return jobs, scenario, g.refuse(WithoutEffect(jobs))
}

// refuse returns an error if an axis changes nothing at all, unless it is the scenario's own and the scenario is
// changed, or only some of its variants or settings are wanted.
func (g *Grid) refuse(list []NoEffect) error {
	asIs := len(g.Variants) == 0 && len(g.Only) == 0 && len(g.Changes) == 0
	for _, n := range list {
		given := slices.ContainsFunc(g.Axes, func(a scenarios.Axis) bool { return a.Axis == n.Axis })
		if n.Everywhere && (given || asIs) {
			return fmt.Errorf("%v by another axis or by each variant: leave the axis out", n)
		}
	}
	return nil
}

// load reads the scenario, changed.
func (g *Grid) load(changes []scenarios.Change) (*scenarios.Scenario, error) {
	if g.BuiltIn {
		return scenarios.LoadBuiltIn(g.Path, changes...)
	}
	return scenarios.Load(g.Path, changes...)
}

// axes are the scenario's, changed and followed by the grid's own.
func (g *Grid) axes(s *scenarios.Scenario) ([]scenarios.Axis, error) {
	list := slices.Clone(s.Sweep)
	for k, a := range g.Axes {
		if slices.ContainsFunc(g.Axes[:k], func(b scenarios.Axis) bool { return b.Axis == a.Axis }) {
			return nil, fmt.Errorf("two axes are called %[1]s: put a name before the path of one, such as %[1]s2:%[2]s",
				a.Axis, a.Set)
		}
		if i := slices.IndexFunc(list, func(b scenarios.Axis) bool { return b.Axis == a.Axis }); i >= 0 {
			list[i] = a
			continue
		}
		list = append(list, a)
	}
	for _, a := range list {
		if err := g.setsAgain(&a); err != nil {
			return nil, err
		}
		switch {
		case g.Engine != "" && sets(&a, "engine"):
			return nil, fmt.Errorf("axis %s sets the engine, which is %s for all points: leave one of the two out",
				a.Axis, g.Engine)
		case a.Axis == VariantAxis || a.Axis == ProtocolAxis:
			return nil, fmt.Errorf("an axis cannot be called %s: variants and protocols are axes of their own", a.Axis)
		case a.Axis == SeedAxis && a.Set != scenarios.SeedPath:
			return nil, fmt.Errorf("axis %s sets %s: only seeds, which are repetitions, can be called so", a.Axis,
				cmp.Or(a.Set, "no seed"))
		case a.Axis != SeedAxis && a.Set == scenarios.SeedPath:
			return nil, fmt.Errorf("axis %s sets the seed: seeds are repetitions, want it called %s", a.Axis, SeedAxis)
		}
	}
	return list, nil
}

// setsAgain returns an error if an axis sets what the grid's changes do: they would be lost.
func (g *Grid) setsAgain(a *scenarios.Axis) error {
	for _, c := range g.Changes {
		if !sets(a, c.Path) && !strings.HasPrefix(c.Path, a.Set+".") {
			continue
		}
		way := "leave that out"
		if a.Set == c.Path {
			way += fmt.Sprintf(", or have the axis at one value: --over %s:%s=%s", a.Axis, c.Path, c.Value)
		}
		return fmt.Errorf("axis %s sets %s at each point, and so does --set %[2]s=%s: %s", a.Axis, c.Path, c.Value, way)
	}
	return nil
}

// sets reports whether an axis changes what a path names.
func sets(a *scenarios.Axis, path string) bool {
	return a.Set == path || slices.ContainsFunc(a.Options, func(o scenarios.AxisOption) bool {
		return slices.ContainsFunc(o.Set, func(text string) bool { return strings.HasPrefix(text, path+"=") })
	})
}

// at lists the jobs at one combination of settings, each with its variant and protocol, and
// returns the scenario as it is there.
func (g *Grid) at(at []Coordinate, changes []scenarios.Change) (jobs []Job, s *scenarios.Scenario, err error) {
	if s, err = g.load(changes); err != nil {
		return nil, nil, fmt.Errorf("at %s: %w", place(at), err)
	}
	engine := g.Engine
	if engine == "" {
		engine = s.Engine
	}
	list, err := s.Experiments(scenarios.Options{Variants: g.Variants})
	if err != nil {
		return nil, nil, err
	}
	for _, x := range list {
		if engine != emu.Virtual || x.Guests == int(scenarios.AutoGuests) || x.Guests == 1 {
			x.Guests = 0 // processors go to points
		}
		j := Job{Experiment: x, Engine: engine}
		j.At = append(slices.Clone(at), Coordinate{VariantAxis, s.VariantOf(x.Variant)},
			Coordinate{ProtocolAxis, x.Protocol})
		if j.Address, err = points.AddressOf(engine, &x); err != nil {
			return nil, nil, err
		}
		if j.Cost, err = Cost(&x); err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, s, nil
}

func place(at []Coordinate) string {
	var parts []string
	for _, c := range at {
		parts = append(parts, c.Axis+"="+c.Label)
	}
	return strings.Join(parts, " ")
}

// unique leaves out jobs at the same place as one before.
func unique(jobs []Job) (list []Job) {
	seen := map[string]bool{}
	for _, j := range jobs {
		name := fmt.Sprint(j.At, j.Address.Key)
		if !seen[name] {
			seen[name] = true
			list = append(list, j)
		}
	}
	return list
}

// Axes lists the axes of jobs, in order, with the labels on each.
func Axes(jobs []Job) (axes []string, labels map[string][]string) {
	labels = map[string][]string{}
	seen := map[Coordinate]bool{}
	for i := range jobs {
		for _, c := range jobs[i].At {
			if labels[c.Axis] == nil {
				axes = append(axes, c.Axis)
			}
			if !seen[c] {
				seen[c], labels[c.Axis] = true, append(labels[c.Axis], c.Label)
			}
		}
	}
	return axes, labels
}
