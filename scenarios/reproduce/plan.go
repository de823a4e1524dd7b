package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/scenarios/sweep"
)

// Options change a plan.
type Options struct {
	Scale     *Scale         // of Scales; it has to be there
	Engine    emu.EngineName // "": the model
	Figures   []string       // by name; none: all
	Protocols []string       // beside or in place of the paper's, see protocols
	Seeds     int            // repetitions of the tables' points; 0: DefaultSeeds
	Samples   float64        // messages of a full point, as a share of the scale's; 0: 1
}

// DefaultSeeds is how many seeds the points of the tables at half load have.
const DefaultSeeds = 5

// Half is the load at which the paper's table has slowdown.
const Half = "0.5"

// A Job is a point of the plan.
type Job struct {
	sweep.Job
	Study string // the scenario that it is of: "balanced", ...
	// Arrivals are released, as the printed numbers have them, or poisson.
	Arrivals string
	Full     bool // it has all of a point's messages, not a third
	Round    int  // earlier rounds are run first
	Optional bool // left out where the machine cannot run it: it has an engine of its own
}

// Rounds are what the rounds of a plan are, in their order.
var Rounds = []string{
	"the tables' points at half load, as printed",
	"all other points, a third of the messages",
	"the tables' points at half load with true Poisson arrivals",
	"more seeds of the tables' points, a third of the messages",
	"the points that set a maximum of the tables, all messages",
}

const (
	roundTables = iota
	roundOthers
	roundPoisson
	roundSeeds
	roundMaxima // known when those before are there: see Found.Maxima
)

// A study is a scenario of scenarios/paper, or an experiment of the testbed.
type study struct {
	name    string
	figures []string
	tables  bool // its points at half load are the tables'
	compare bool // all protocols run it
	testbed *testbed
}

// studies are in the order of the paper's figures.
var studies = []study{
	{
		name: "balanced", figures: []string{"fig1", "fig5", "fig6", "fig7", "fig8", "fig12", "fig13", "tables"},
		tables: true, compare: true,
	},
	{name: "core", figures: tableFigures, tables: true, compare: true},
	{name: "incast", figures: tableFigures, tables: true, compare: true},
	{name: "frontier", figures: []string{"fig2"}},
	{name: testbedIncast, figures: []string{"fig3"}, testbed: &incastTestbed},
	{name: testbedCubic, figures: []string{"fig3"}, testbed: &cubicTestbed},
	{name: testbedOutcast, figures: []string{"fig4"}, testbed: &outcastTestbed},
	{name: "sensitivity", figures: []string{"fig9"}},
	{name: "unscheduled", figures: []string{"fig10"}},
	{name: "unscheduled-incast", figures: []string{"fig10"}},
	{name: "priorities", figures: []string{"fig11"}},
}

var tableFigures = []string{"fig5", "fig6", "fig7", "fig12", "fig13", "tables"}

// FigureNames lists the figures and tables that can be asked for.
func FigureNames() (names []string) {
	for _, s := range studies {
		for _, f := range s.figures {
			if !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return figureNumber(a) - figureNumber(b) })
	return names
}

func figureNumber(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "fig"))
	if err != nil {
		return 1000 // tables
	}
	return n
}

// Plan lists the points of a reproduction, in the order in which they are to be run but for
// the longest of a round, which go first.
func Plan(o Options) (jobs []Job, err error) {
	for _, f := range o.Figures {
		if !slices.Contains(FigureNames(), f) {
			return nil, fmt.Errorf("no figure is called %q: use one of %s", f, strings.Join(FigureNames(), ", "))
		}
	}
	if err := checkProtocols(o.Protocols); err != nil {
		return nil, err
	}
	for _, s := range studies {
		if len(o.Figures) > 0 && !slices.ContainsFunc(s.figures, func(f string) bool {
			return slices.Contains(o.Figures, f)
		}) {
			continue
		}
		list, err := s.jobs(&o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		jobs = append(jobs, list...)
	}
	if len(o.Figures) > 0 {
		jobs = slices.DeleteFunc(jobs, func(j Job) bool {
			return !slices.ContainsFunc(o.Figures, func(figure string) bool { return j.isOf(figure) })
		})
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return a.Round - b.Round })
	return jobs, nil
}

// jobs lists the points of a study, in all rounds.
func (s *study) jobs(o *Options) (list []Job, err error) {
	base, err := s.points(o, "released", 1, o.Scale.loads)
	if err != nil {
		return nil, err
	}
	for _, j := range base {
		j.Round = roundOthers
		if j.Full = s.tables && s.half(&j); j.Full {
			j.Round = roundTables
		}
		list = append(list, j)
	}
	if s.tables {
		half := []string{Half}
		more, err := s.points(o, "poisson", 1, half)
		if err != nil {
			return nil, err
		}
		for _, j := range more {
			j.Round, j.Full = roundPoisson, true
			list = append(list, j)
		}
		seeds := o.Seeds
		if seeds == 0 {
			seeds = DefaultSeeds
		}
		for seed := 2; seed <= seeds; seed++ {
			more, err := s.points(o, "released", seed, half)
			if err != nil {
				return nil, err
			}
			for _, j := range more {
				j.Round = roundSeeds
				list = append(list, j)
			}
		}
	}
	for i := range list {
		if s.testbed != nil {
			break // its times are the scenario's
		}
		if err := list[i].fill(o); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *study) half(j *Job) bool { return j.Label("load") == Half }

// points lists the points of a study's scenario at some loads, none: all.
func (s *study) points(o *Options, arrivals string, seed int, loads []string) (list []Job, err error) {
	g := sweep.Grid{Path: "paper/" + s.name, BuiltIn: true, Engine: cmp.Or(o.Engine, emu.Model)}
	if s.testbed != nil {
		s.testbed.grid(&g, o.Scale.testbed[s.name])
		jobs, _, err := g.Jobs()
		for _, j := range jobs {
			j.Grid = s.name
			list = append(list, Job{Job: j, Study: s.name, Arrivals: arrivals, Optional: s.testbed.engine != ""})
		}
		return list, err
	}
	if len(loads) > 0 {
		g.Only = map[string][]string{"load": loads}
	}
	g.Changes = append(g.Changes, o.Scale.changes...)
	g.Changes = append(g.Changes, scenarios.Change{Path: "seed", Value: strconv.Itoa(seed)})
	g.Changes = append(g.Changes, scenarios.Change{Path: "traffic[all].arrivals", Value: arrivals})
	if strings.HasSuffix(s.name, "incast") {
		g.Changes = append(g.Changes, scenarios.Change{Path: "traffic[burst].fan_in", Value: o.Scale.fanIn})
	}
	if s.compare && len(o.Protocols) > 0 {
		g.Changes = append(g.Changes, scenarios.Change{
			Path: "protocols", Value: "[" + strings.Join(protocols(o.Protocols), ", ") + "]",
		})
	}
	jobs, _, err := g.Jobs()
	if err != nil {
		return nil, err
	}
	name := s.name
	if arrivals != "released" {
		name += " " + arrivals
	}
	if seed > 1 {
		name += fmt.Sprint(" seed=", seed)
	}
	for _, j := range jobs {
		j.Grid = name
		list = append(list, Job{Job: j, Study: s.name, Arrivals: arrivals})
	}
	return list, nil
}
