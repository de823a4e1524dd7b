package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/scenarios"
	"sirdbed/topo"
)

// runOptions are what run is told on the command line.
type runOptions struct {
	engine   string
	seed     uint64
	out      string
	json     bool
	dilation string
	variants []string
	set      []string
}

func newRun() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Run a scenario and report what happened",
		Long: text(`
			Build the fabric of a scenario, run its traffic over it, measure, and report. SCENARIO is a YAML file or the name of
			one that is in the binary: ` + strings.Join(scenarios.Names(), ", ") + `.

			Tables of goodput, latency, slowdown and queues go to stdout, progress to stderr. Everything measured is kept in
			results/SCENARIO-TIME/: raw logs, Parquet tables, summary.json, and report.html to look at.

			The verdict says whether this machine was fast enough for the figures to stand: PASS, DEGRADED or INVALID. Bounds
			are what the scenario's author, or the paper, expects.

			A first interrupt ends the run early and reports what was measured until then, a second one ends at once.

			Exit codes: 0 fine, 1 failed, 2 bad input, 3 verdict INVALID, 4 a bound not met, 130 interrupted.`),
		Example: text(`
			sirdbed run quickstart
			sirdbed run scenarios/incast.yaml
			sirdbed run incast --engine model --variant srpt,rr
			sirdbed run outcast --set variants.sthr-0.5.sird.sthr=0.25 --seed 7
			sirdbed run my.yaml --dilation 200 --out /data/my --json`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := prepare(args[0], o)
			if err != nil {
				return err
			}
			if sandboxed[r.engine] && !emu.InSandbox() {
				return inSandbox(c.Context())
			}
			r.stdout, r.stderr = c.OutOrStdout(), c.ErrOrStderr()
			return r.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&o.engine, "engine", "", "what runs it: real, virtual or model (default: the scenario's, which is real unless it says)")
	f.Uint64Var(&o.seed, "seed", 0, "seed of all random draws (default: the scenario's)")
	f.StringVar(&o.out, "out", "", "directory for the results, new or empty (default: results/SCENARIO-TIME)")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON, and nothing else, to stdout")
	f.StringVar(&o.dilation, "dilation", "", "factor by which time is stretched, or auto (default: the scenario's)")
	f.StringSliceVar(&o.variants, "variant", nil, "run these variants only (default: all)")
	f.StringArrayVar(&o.set, "set", nil, "change the scenario: PATH=VALUE, such as sird.sthr=inf (may be repeated)")
	return c
}

// A scenarioRun is one run of a scenario.
type scenarioRun struct {
	scenario    *scenarios.Scenario
	engine      scenarios.Engine
	experiments []emu.Experiment
	out         string
	json        bool

	stdout, stderr io.Writer
	dir            string // of the results
	failures       []failure
}

// A failure is a variant that did not run to its end, and why.
type failure struct {
	variant string
	err     error
}

// prepare checks everything that can be before anything is started.
func prepare(path string, o runOptions) (*scenarioRun, error) {
	var changes []scenarios.Change
	for _, text := range o.set {
		change, err := scenarios.ParseChange(text)
		if err != nil {
			return nil, badInput(err)
		}
		changes = append(changes, change)
	}
	s, err := loadScenario(path, changes...)
	if err != nil {
		return nil, err
	}
	r := &scenarioRun{scenario: s, engine: s.Engine, out: o.out, json: o.json}
	if o.engine != "" {
		r.engine = scenarios.Engine(o.engine)
	}
	options := scenarios.Options{Seed: o.seed, Variants: o.variants}
	if o.dilation != "" {
		var d scenarios.Dilation
		if err := d.UnmarshalText([]byte(o.dilation)); err != nil {
			return nil, badInput(fmt.Errorf("--dilation: %w", err))
		}
		s.Dilation = d
	}
	if err := engineExists(r.engine); err != nil {
		return nil, err
	}
	if r.engine == scenarios.EngineVirtual {
		if _, err := findKernel(); err != nil {
			return nil, err
		}
	}
	r.experiments, err = s.Experiments(options)
	return r, badInput(err)
}

// run runs all variants and reports.
func (r *scenarioRun) run(ctx context.Context) error {
	var err error
	if r.dir, err = makeResults(r.out, r.scenario.Name, time.Now()); err != nil {
		return err
	}
	defer giveBack(r.dir)
	if err := r.keepScenario(); err != nil {
		return explainDisk(err, r.dir)
	}
	if !r.json {
		fmt.Fprintf(r.stderr, "%s: %s, engine %s, results in %s\n", r.scenario.Name, shape(r.scenario.Fabric().Spec), r.engine, r.dir)
	}
	for i := range r.experiments {
		if ctx.Err() != nil {
			break
		}
		r.runVariant(ctx, i)
	}
	return r.report(ctx.Err() != nil)
}

// keepScenario writes what is run, so that report can tell even after this
// process was killed.
func (r *scenarioRun) keepScenario() error {
	head := ""
	for _, set := range r.scenario.Set {
		head += "# run with --set " + set + "\n"
	}
	return errors.Join(
		os.WriteFile(filepath.Join(r.dir, scenarioText), []byte(head+r.scenario.Text()), 0o666),
		writeJSON(filepath.Join(r.dir, scenarioFile), r.record()),
		os.MkdirAll(filepath.Join(r.dir, capture.VariantsDir), 0o777),
	)
}

// runVariant runs experiment i. A failure is noted, and does not keep others
// from running.
func (r *scenarioRun) runVariant(ctx context.Context, i int) {
	x := &r.experiments[i]
	dir := filepath.Join(r.dir, capture.VariantsDir, x.Variant)
	p := newProgress(r.stderr, r.json, x, i, len(r.experiments))
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		engine := engines[r.engine](r.publish(x))
		_, err = engine.Run(ctx, x, dir, emu.Hooks{
			Progress: p.reached,
			OpenCapture: func(path string, node *topo.Node) (emu.Capture, error) {
				return capture.Create(path, r.scenario.Fabric(), node)
			},
		})
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		p.done(context.Canceled)
		return
	}
	err = explainDisk(err, r.dir)
	p.done(err)
	if err != nil {
		r.failures = append(r.failures, failure{x.Variant, err})
	}
}

// publish returns what makes the hosts of a variant known to exec while they
// run.
func (r *scenarioRun) publish(x *emu.Experiment) func([]HostState) {
	withdraw := func() {}
	return func(hosts []HostState) {
		withdraw()
		withdraw = func() {}
		if len(hosts) == 0 {
			return
		}
		results, _ := filepath.Abs(r.dir)
		w, err := publishState(State{
			Run: filepath.Base(results) + "-" + x.Variant, Scenario: x.Scenario, Variant: x.Variant,
			Engine: string(r.engine), Results: results, Started: time.Now(), Hosts: hosts,
		})
		if err != nil { // the run itself is fine without
			fmt.Fprintf(r.stderr, "exec will not find this run: %v\n", err)
			return
		}
		withdraw = w
	}
}
