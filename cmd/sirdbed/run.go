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
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/atomicfile"
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
	hold     bool
	files    resultFiles
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

			Protocols that the engine cannot run (kernel TCP on the model, or where links cannot delay its packets) are left out,
			and the report says so.

			A first interrupt ends the run early and reports what was measured until then, a second one ends at once. With --hold
			the last variant's fabric stays up when its run has come to its end, until an interrupt: sirdbed exec enters it.
			What happens on it then is in no figure.

			For CI systems, --junit writes bounds and the verdict's checks as test cases, and --markdown a summary. A case fails
			where the exit code says so too: DEGRADED passes.

			Exit codes: 0 fine, 1 failed, 2 bad input, 3 verdict INVALID, 4 a bound not met, 130 interrupted.`),
		Example: text(`
			sirdbed run quickstart
			sirdbed run scenarios/incast.yaml
			sirdbed run incast --engine model --variant srpt,rr
			sirdbed run outcast --set 'variants[sthr-0.5].sird.sthr=0.25' --seed 7
			sirdbed run my.yaml --dilation 200 --out /data/my --json
			sirdbed run my.yaml --junit sirdbed.xml --markdown "$GITHUB_STEP_SUMMARY"
			sirdbed run quickstart --hold          then, elsewhere: sirdbed exec h1-1 ping -c 3 10.250.1.4`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := prepare(args[0], o)
			if err != nil {
				return err
			}
			if enter := engines[r.engine].enter; enter != nil {
				if done, err := enter(c.Context()); done {
					return err
				}
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
	f.BoolVar(&o.hold, "hold", false, "keep the last variant's fabric up after its run until interrupted, for sirdbed exec (engine real)")
	f.StringArrayVar(&o.set, "set", nil, "change the scenario: PATH=VALUE, such as sird.sthr=inf (may be repeated)")
	o.files.flags(c)
	completeFlag(c, "engine", completeEngine)
	completeFlag(c, "variant", completeVariants)
	completeFlag(c, "out", directories)
	completeFlag(c, "dilation", cobra.FixedCompletions([]string{"auto"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "seed", noFiles)
	completeFlag(c, "set", noFiles)
	return c
}

// A scenarioRun is one run of a scenario.
type scenarioRun struct {
	scenario    *scenarios.Scenario
	engine      emu.EngineName
	experiments []emu.Experiment
	skipped     []results.Skipped // that the engine cannot run
	out         string
	json        bool
	hold        bool
	files       resultFiles
	release     func() // when all is over; nil: nothing is held

	stdout, stderr io.Writer
	dir            string // of the results
	failures       []failure
	interrupted    bool // before all variants had come to their end
}

// A failure is a variant that did not run to its end, and why.
type failure struct {
	variant string
	err     error
}

// prepare checks everything that can be before anything is started.
func prepare(path string, o runOptions) (*scenarioRun, error) {
	if err := o.files.check(); err != nil {
		return nil, err
	}
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
	r := &scenarioRun{scenario: s, engine: s.Engine, out: o.out, json: o.json, hold: o.hold, files: o.files}
	if o.engine != "" {
		r.engine = emu.EngineName(o.engine)
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
	if r.hold && engines[r.engine].enter == nil {
		return nil, badInput(fmt.Errorf("--hold: the engine %s builds no fabric that could be kept up", r.engine))
	}
	if reserve := engines[r.engine].reserve; reserve != nil {
		if r.release, err = reserve(); err != nil {
			return nil, err
		}
	}
	r.experiments, err = s.Experiments(options)
	return r, badInput(err)
}

// run runs all variants and reports.
func (r *scenarioRun) run(ctx context.Context) error {
	if r.release != nil {
		defer r.release()
	}
	if err := r.check(); err != nil {
		return err
	}
	size, err := r.checkDisk()
	if err != nil {
		return err
	}
	if r.dir, err = makeResults(r.out, r.scenario.Name, time.Now()); err != nil {
		return err
	}
	defer giveBack(r.dir)
	if err := r.keepScenario(); err != nil {
		return explainDisk(err, r.dir)
	}
	defer holdResult(r.dir)()
	if !r.json {
		fmt.Fprintf(r.stderr, "%s: %s, engine %s, about %s of results in %s\n",
			r.scenario.Name, shape(r.scenario.Fabric().Spec), r.engine, humanSize(size), r.dir)
		for _, skipped := range r.skipped {
			fmt.Fprintf(r.stderr, "not run: %s: %s\n", skipped.Variant, skipped.Reason)
		}
	}
	for i := range r.experiments {
		if ctx.Err() != nil {
			r.interrupted = true
			break
		}
		r.runVariant(ctx, i)
	}
	return r.report()
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
		atomicfile.JSON(filepath.Join(r.dir, scenarioFile), r.record()),
		os.MkdirAll(filepath.Join(r.dir, results.VariantsDir), 0o777),
	)
}

// runVariant runs experiment i. A failure is noted, and does not keep others
// from running.
func (r *scenarioRun) runVariant(ctx context.Context, i int) {
	x := &r.experiments[i]
	dir := filepath.Join(r.dir, results.VariantsDir, x.Variant)
	p := newProgress(r.stderr, r.json, x, i, len(r.experiments))
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		engine := engines[r.engine].make(whileUp{r.publish(x), r.holding(i, p)})
		_, err = engine.Run(ctx, x, dir, emu.Hooks{
			Progress: p.reached,
			OpenCapture: func(path string, node *topo.Node) (emu.Capture, error) {
				return capture.Create(path, r.scenario.Fabric(), node)
			},
		})
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		r.interrupted = true
		p.done(context.Canceled)
		return
	}
	err = explainDisk(err, r.dir)
	p.done(err)
	if err != nil {
		r.failures = append(r.failures, failure{x.Variant, err})
	}
}

// holding returns what keeps the fabric of experiment i up: nil unless it is the
// last one and that was asked for.
func (r *scenarioRun) holding(i int, p *progress) func(context.Context) {
	if !r.hold || i+1 < len(r.experiments) {
		return nil
	}
	return func(ctx context.Context) {
		p.pause("the fabric is kept up: enter it with sirdbed exec HOST in another terminal, end it with Ctrl-C")
		<-ctx.Done()
	}
}
