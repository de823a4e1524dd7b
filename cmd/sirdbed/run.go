package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/scenarios"
)

// runOptions are the options of run on the command line.
type runOptions struct {
	engine   string
	seed     uint64
	out      string
	json     bool
	dilation string
	guests   string
	variants []string
	set      []string
	keepUp   bool // the last variant's fabric
	joining  joining
	show     showing
	jobs     int
	files    resultFiles
}

// showing is how a run is shown while it goes on, besides its progress.
type showing struct {
	live  bool // as a page
	watch bool // in the terminal
}

func (s showing) any() bool { return s.live || s.watch }

func newRun() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:               "run SCENARIO",
		Short:             "Run a scenario and report what happened",
		Long:              text(runHelp + strings.Join(scenarios.Names(), ", ") + "."),
		Example:           examples(runExamples),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if o.seed == 0 && c.Flags().Changed("seed") {
				return badInput(errors.New("--seed 0: want 1 or more: 0 is a seed that is not given"))
			}
			r, err := prepare(args[0], o)
			if err == nil {
				err = cmp.Or(r.joining.check(r.engine, hostsThatJoin(r.experiments)),
					r.checkJobs(o.jobs, c.Flags().Changed("jobs")))
			}
			if err != nil {
				return err
			}
			r.stdout, r.stderr = c.OutOrStdout(), c.ErrOrStderr()
			if c.Context().Err() != nil {
				fmt.Fprintln(r.stderr, "interrupted: nothing was run")
				return &codedError{exitStopped, errReported}
			}
			if err := r.checkRoom(); err != nil {
				return err
			}
			if enter := engines[r.engine].enter; enter != nil {
				if done, err := enter(c.Context(), r.experiments, o.show, r.joining, reportAfterDeath); done {
					return err
				}
			}
			return r.run(c.Context())
		},
	}
	o.flags(c.Flags())
	o.files.flags(c)
	completeFlag(c, "engine", completeEngine)
	completeFlag(c, "variant", completeVariants)
	completeFlag(c, "out", directories)
	completeFlag(c, "dilation", cobra.FixedCompletions([]string{"auto"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "guests", cobra.FixedCompletions([]string{"auto"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "seed", noFiles)
	completeFlag(c, "set", noFiles)
	completeFlag(c, "join-listen", noFiles)
	completeFlag(c, "join-within", noFiles)
	return c
}

// reportAfterDeath is what can be done with what a killed run has left.
const reportAfterDeath = " (sirdbed report computes what can be computed of it)"

const runHelp = `
	Build the fabric of a scenario, run its traffic, measure and report.

	Tables of goodput, latency, slowdown and queues go to stdout, progress goes to stderr. Everything measured is kept
	in results/SCENARIO-TIME: raw logs, Parquet tables, summary.json, and report.html to look at. An estimate of the
	disk space that takes is printed first, with a warning if the file system has less.

	The verdict says whether this machine was fast enough for the figures to be believed: PASS, DEGRADED or INVALID.
	Bounds are what the scenario's author, or the paper, expects of the figures.

	--live serves a page that follows the run: link load and queues of the fabric, goodput and the protocol's gauges by
	host, slowdown. Its address is printed, is on loopback, and contains a secret token; from another machine, use ssh
	-L with that port at both ends. --watch shows goodput, queues and slowdown in the terminal, or as lines if stderr is
	not one. Both read the logs as they grow, outside the fabric; the verdict has what that cost.

	On the engines model and virtual as many variants run at once as there are processors, or as --jobs says; results
	are the same. On real each takes the whole machine.

	On the engine virtual a variant takes one processor. With --guests 2 or more its fabric is split, by racks, over
	that many guests with one clock, each on a processor of its own. Figures are the same except for what happens at the
	same instant; equal numbers of guests give equal runs.

	Variants whose protocol the engine cannot run (kernel TCP on the model, or where links cannot delay its packets)
	are left out, and the report says so.

	The first interrupt ends the run early and reports what was measured so far; the second ends it at once. With --hold
	the fabric of the last variant stays up after its run, until an interrupt, so that sirdbed exec can enter it.
	Nothing that happens there from then on is measured.

	Hosts that are devices with join: true run at the other ends of their cables: peers join the run by sirdbed node
	join, at the address of this machine that --join-listen gives. That command is printed, with a token unless
	$SIRDBED_JOIN_TOKEN has it at both ends. The run begins when all have joined.

	For CI systems, --junit writes bounds and the verdict's checks as test cases, and --markdown a summary. A case fails
	only on what fails the run: DEGRADED passes.

	Exit codes: 0 fine, 1 failed, 2 bad input, 3 verdict INVALID, 4 a bound not met, 130 interrupted.

	SCENARIO is a YAML file, or the name of a scenario in the binary: `

const runExamples = `
	sirdbed run quickstart
	sirdbed run scenarios/incast.yaml
	sirdbed run incast --engine model --variant srpt,rr
	sirdbed run outcast --set 'variants[sthr-0.5].sird.sthr=0.25' --seed 7
	sirdbed run my.yaml --dilation 200 --out /data/my --json
	sirdbed run my.yaml --junit sirdbed.xml --markdown "$GITHUB_STEP_SUMMARY"
	sirdbed run incast --live --watch
	sudo sirdbed run my.yaml --join-listen 192.0.2.1
	sirdbed run quickstart --hold          then, elsewhere: sirdbed exec h1-1 ping -c 3 10.250.1.4`

func (o *runOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.engine, "engine", "", "run on `ENGINE`: real, virtual or model (default: the scenario's, or real)")
	f.Uint64Var(&o.seed, "seed", 0, "seed all random draws with `N` (default: the scenario's)")
	f.StringVar(&o.out, "out", "", "write the results to `DIRECTORY`, new or empty (default: results/SCENARIO-TIME)")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON to stdout, and nothing else")
	f.StringVar(&o.dilation, "dilation", "", "stretch time by `FACTOR`, or auto (default: the scenario's)")
	f.StringSliceVar(&o.variants, "variant", nil, "run only the variants `NAME,...` (default: all)")
	f.IntVar(&o.jobs, "jobs", 0,
		"run `N` variants at once (default: one for each processor; engines model and virtual)")
	f.StringVar(&o.guests, "guests", "",
		"share a fabric among `N` guests with one clock, or auto: one for each processor that variants leave "+
			"(engine virtual; default: the scenario's, or 1)")
	f.BoolVar(&o.keepUp, "hold", false, "keep the last variant's fabric up after its run, for exec (engine real)")
	f.BoolVar(&o.show.live, "live", false, "serve a page that shows the run as it goes on, on loopback")
	f.BoolVar(&o.show.watch, "watch", false, "show goodput, queues and slowdown in the terminal as the run goes on")
	f.StringVar(&o.joining.listen, "join-listen", "",
		"have the peers of devices join at `ADDRESS` of this machine (hosts with join: true)")
	f.DurationVar(&o.joining.within, "join-within", 2*time.Minute, "wait for `TIME` at most until a peer has joined")
	f.StringArrayVar(&o.set, "set", nil, setUsage)
}
