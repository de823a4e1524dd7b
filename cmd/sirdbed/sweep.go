package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/capture/metric"
	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/scenarios/sweep"
)

// sweepOptions are the options of sweep on the command line.
type sweepOptions struct {
	over     []string
	seeds    string
	set      []string
	engine   string
	variants []string
	metrics  []string
	by       string
	x        string
	out      string
	json     bool
	pointOptions
}

func newSweep() *cobra.Command {
	var o sweepOptions
	c := &cobra.Command{
		Use:               "sweep SCENARIO",
		Short:             "Run a scenario over a grid of parameters",
		Long:              text(sweepHelp),
		Example:           examples(sweepExamples),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(c *cobra.Command, args []string) error {
			g, err := o.grid(args[0])
			if err != nil {
				return err
			}
			return o.sweep(c, g)
		},
	}
	o.flags(c.Flags())
	c.AddCommand(newSweepPoint())
	completeFlag(c, "engine", completeEngine)
	completeFlag(c, "variant", completeVariants)
	completeFlag(c, "out", directories)
	o.complete(c)
	for _, flag := range []string{"over", "seeds", "set", "metric", "by", "x"} {
		completeFlag(c, flag, noFiles)
	}
	return c
}

const sweepHelp = `
	Run each variant and protocol of a scenario at every combination of parameter values, and print a table.

	Axes come from the scenario's sweep and from --over: [NAME:]PATH=VALUES, with paths as in --set, values separated by
	commas, and FROM..TO/STEP for a range (whole numbers need no /STEP). Seeds (--seeds 1..5, or an axis with the path
	seed) are repetitions: figures are medians over them, with their range.

	A finished point is kept as a file of a few KB, which is good for its experiment and the code that its result
	depends on. So a sweep that was interrupted, or whose machine was switched off, resumes where it stopped, and points
	of other code run again. The longest points run first, as many at once as there are processors (engines model and
	virtual). A point ends early only if a leaf's queue grows without bound.

	With --slurm, points run as tasks of Slurm job arrays, and this command collects them. The directory of points and
	the program must be on a file system that Slurm's nodes share, under the same paths. A point whose node died is
	submitted again, up to three times; one that failed is not. An interrupt cancels what was submitted.

	The results directory has sweep.parquet, with a row for each point, sweep.json, and report.html, which draws each
	metric over one axis (--x), with a series for each value of another (--by) and a figure for each combination of the
	others; plots has the figures as pictures.

	Exit codes: 0 fine, 1 failed, 2 bad input, 3 a point INVALID, 130 interrupted.

	SCENARIO is a YAML file, or the name of a scenario in the binary.`

const sweepExamples = `
	sirdbed sweep small-wkb --over 'traffic[all].load=0.3..0.9/0.2'
	sirdbed sweep small-wkc --seeds 1..5 --variant sird,homa
	sirdbed sweep small-wkc --over sird.b=1,1.5,2 --over sird.sthr=0.5,1,inf --variant sird
	sirdbed sweep my.yaml --metric slowdown,stat=p99,group=A --metric goodput_gbps --by load
	sirdbed sweep my.yaml --over load=0.2..0.8/0.1 --over sird.sthr=0.5,1,inf --x load --by sthr
	sirdbed sweep my.yaml --dry-run
	sirdbed sweep my.yaml --for 2h50m
	sirdbed sweep my.yaml --slurm --slurm-option --partition=long`

func (o *sweepOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.over, "over", nil, "sweep over `[NAME:]PATH=VALUES`, such as sird.sthr=0.5,1,inf (repeatable)")
	f.StringVar(&o.seeds, "seeds", "", "repeat each point with the seeds `LIST`, such as 1..5 or 1,7")
	f.StringArrayVar(&o.set, "set", nil, setUsage)
	f.StringVar(&o.engine, "engine", "", "run on `ENGINE`: real, virtual or model (default: the scenario's, or real)")
	f.StringSliceVar(&o.variants, "variant", nil, "run only the variants `NAME,...` (default: all)")
	f.StringArrayVar(&o.metrics, "metric", nil,
		"show `METRIC[,FIELD=VALUE...]`, such as slowdown,stat=p99,group=A (repeatable; see sirdbed explain)")
	f.StringVar(&o.x, "x", "", "draw figures over `AXIS` (default: the first that has numbers)")
	f.StringVar(&o.by, "by", "",
		"show a table of each metric with `AXIS` across its top, and draw a series for each of its values "+
			"(default: no such table, and series by protocol)")
	f.StringVar(&o.out, "out", "",
		"write the results to `DIRECTORY`, new or empty (default: results/SCENARIO-sweep-TIME)")
	f.BoolVar(&o.json, "json", false, "print sweep.json to stdout, and nothing else")
	o.pointOptions.flags(f, "print what would be run, and about how long it takes, and run nothing")
}

// grid is what the options ask for.
func (o *sweepOptions) grid(path string) (*sweep.Grid, error) {
	g := &sweep.Grid{Path: path, Engine: emu.EngineName(o.engine), Variants: o.variants}
	if o.engine != "" {
		if err := engineExists(g.Engine); err != nil {
			return nil, err
		}
	}
	for _, text := range o.set {
		c, err := scenarios.ParseChange(text)
		if err != nil {
			return nil, badInput(err)
		}
		g.Changes = append(g.Changes, c)
	}
	over := o.over
	if o.seeds != "" {
		over = append(over, scenarios.SeedPath+"="+o.seeds)
	}
	for _, text := range over {
		a, err := scenarios.ParseAxis(text)
		if err != nil {
			return nil, badInput(err)
		}
		g.Axes = append(g.Axes, a)
	}
	return g, nil
}

// howToRun are the options that say where points are kept and how they are run, and change no
// result.
var howToRun = []string{"points", "jobs", "for", "slurm", "slurm-option"}

// sweep runs a grid and shows what came of it.
func (o *sweepOptions) sweep(c *cobra.Command, g *sweep.Grid) error {
	if o.json && o.dryRun {
		return badInput(errors.New("--json is of results: --dry-run has none"))
	}
	metrics, err := parseMetrics(o.metrics)
	if err != nil {
		return badInput(err)
	}
	var jobs []sweep.Job
	var scenario *scenarios.Scenario
	err = planned(c.Context(), func() (err error) {
		jobs, scenario, err = g.Jobs()
		return badInput(err)
	})
	if err != nil {
		return err
	}
	t := sweepTable{jobs: jobs, noEffect: sweep.WithoutEffect(jobs), metrics: metrics, by: o.by, x: o.x}
	if err := t.check(); err != nil {
		return badInput(err)
	}
	if err := o.leaveRoot(jobs, o.out); err != nil {
		return err
	}
	s := &sweeper{what: scenario.Name, jobs: jobs, named: o.out != ""}
	for _, n := range t.noEffect {
		fmt.Fprintf(c.ErrOrStderr(), "%s\n", report.Printable(n.String()))
	}
	if err := planned(c.Context(), func() error { return o.begin(c.ErrOrStderr(), s) }); err != nil {
		return err
	}
	defer s.close()
	if o.dryRun {
		return s.list(c.OutOrStdout())
	}
	if err := reserveResults(o.out, o.points); err != nil {
		return err
	}
	return s.complete(c.Context(), c.ErrOrStderr(), func() error {
		t.found = s.found
		return o.show(c, scenario, &t, commandAgain(c, []string{g.Path}, howToRun...))
	})
}

// defaultMetrics are those of a sweep that asks for none.
var defaultMetrics = []metric.Metric{
	{Name: "goodput_gbps"},
	{Name: "slowdown", Stat: "p50"},
	{Name: "slowdown", Stat: "p99"},
	{Name: "queue_bytes", Stat: "max", Switch: "leaf"},
	{Name: "queue_bytes", Stat: "mean", Switch: "leaf"},
}
