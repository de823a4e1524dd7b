package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/scenarios/reproduce"
	"sirdbed/scenarios/sweep"
)

// reproduceOptions are the options of reproduce on the command line.
type reproduceOptions struct {
	scale     string
	engine    string
	protocols []string
	seeds     int
	samples   float64
	out       string
	pointOptions
}

func newReproduce() *cobra.Command {
	var o reproduceOptions
	c := &cobra.Command{
		Use:     "reproduce [all | FIGURE...]",
		Short:   "Repeat the paper's evaluation, and compare it with what was printed",
		Long:    text(reproduceHelp + strings.Join(reproduce.FigureNames(), ", ") + "."),
		Example: examples(reproduceExamples),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			return starting(append(reproduce.FigureNames(), "all"), begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := o.plan(args)
			if err != nil {
				return badInput(err)
			}
			return o.reproduce(c, plan, o.again(c, args))
		},
	}
	o.flags(c.Flags())
	completeFlag(c, "engine", completeEngine)
	completeFlag(c, "out", directories)
	o.complete(c)
	for _, flag := range []string{"scale", "protocols", "seeds", "samples"} {
		completeFlag(c, flag, noFiles)
	}
	return c
}

const reproduceHelp = `
	Run the points behind the figures and tables of the paper's evaluation (section 6), and compare them number by
	number with what the paper printed.

	The plan runs in rounds: first the tables' points at half load, with as many messages as in the paper and the
	released simulator's arrivals, which is how the printed numbers were made; then all other points, with a third of
	the messages; the tables' points with true Poisson arrivals; more seeds; and, once these are there, repeats with all
	messages of the points that set a maximum of a table. So a run that is stopped early lacks these repeats and seeds
	first. Where a protocol cannot carry half load, the loads between half and the highest are not run. Points are kept
	like those of sirdbed sweep, and the same command resumes where it stopped.

	--scale small has 16 hosts with the same ratios; --scale smoke only shows that everything runs. --protocols +NAME
	adds a protocol of your own to every figure that compares protocols. Kernel TCP, which fig3 compares with SIRD under
	incast, runs on the engine virtual, and is left out if that has no kernel.

	Figures and tables: `

const reproduceExamples = `
	sirdbed reproduce all --dry-run
	sirdbed reproduce all --for 10h
	sirdbed reproduce fig6 --scale small
	sirdbed reproduce tables --scale small --seeds 1 --protocols sird,homa
	sirdbed reproduce all --scale small --protocols +mine`

func (o *reproduceOptions) flags(f *pflag.FlagSet) {
	var scales []string
	for _, s := range reproduce.Scales {
		scales = append(scales, fmt.Sprintf("%s (%s)", s.Name, s.Doc))
	}
	f.StringVar(&o.scale, "scale", "paper", "how large: `NAME` of "+strings.Join(scales, ", "))
	f.StringVar(&o.engine, "engine", string(emu.Model), "run on `ENGINE`: model or virtual")
	f.StringSliceVar(&o.protocols, "protocols", nil,
		"compare the protocols `NAME,...` (default: the paper's six; +NAME is beside them)")
	f.IntVar(&o.seeds, "seeds", reproduce.DefaultSeeds, "repeat the tables' points at half load with `N` seeds")
	f.Float64Var(&o.samples, "samples", 1, "have `SHARE` of the messages of the scale")
	f.StringVar(&o.out, "out", "", "write the results to `DIRECTORY`, new or empty (default: results/reproduce-TIME)")
	o.pointOptions.flags(f, "print the plan, with time and disk, and run nothing")
}

// plan is what the options and arguments ask for.
func (o *reproduceOptions) plan(args []string) (p reproduce.Options, err error) {
	scale, err := reproduce.FindScale(o.scale)
	if err != nil {
		return p, fmt.Errorf("--scale: %w", err)
	}
	if err := engineExists(emu.EngineName(o.engine)); err != nil {
		return p, err
	}
	if engines[emu.EngineName(o.engine)].enter != nil {
		return p, fmt.Errorf("--engine %s: want an engine with exact time, model or virtual", o.engine)
	}
	if o.seeds < 1 || o.seeds > 100 {
		return p, fmt.Errorf("--seeds is %d: want 1 to 100", o.seeds)
	}
	if !(o.samples > 0 && o.samples <= 100) {
		return p, fmt.Errorf("--samples is %v: want a share above 0, up to 100", o.samples)
	}
	if slices.Contains(args, "all") {
		if len(args) > 1 {
			return p, errors.New("all is all figures: want all alone, or figures")
		}
		args = nil
	}
	return reproduce.Options{
		Scale: scale, Engine: emu.EngineName(o.engine), Figures: args, Protocols: o.protocols, Seeds: o.seeds,
		Samples: o.samples,
	}, nil
}

// again is a command line that makes the same results, with their scale, wherever points are
// kept and however they are run.
func (o *reproduceOptions) again(c *cobra.Command, args []string) string {
	if len(args) == 0 {
		args = []string{"all"}
	}
	return commandAgain(c, append(slices.Clone(args), "--scale", o.scale), append([]string{"scale"}, howToRun...)...)
}

// reproduce runs what is missing of a plan and shows what came of it.
// command is a command line that does so again.
func (o *reproduceOptions) reproduce(c *cobra.Command, plan reproduce.Options, command string) error {
	jobs, err := reproduce.Plan(plan)
	if err != nil {
		return badInput(err)
	}
	if err := o.leaveRoot(plain(jobs), o.out); err != nil {
		return err
	}
	s := &sweeper{
		what: "reproduce, scale " + o.scale, jobs: plain(jobs), round: func(i int) int { return jobs[i].Round },
		optional: func(i int) bool { return jobs[i].Optional }, named: o.out != "",
	}
	found := func() *reproduce.Found { return &reproduce.Found{Jobs: jobs, Points: s.believed()} }
	s.needless = func(i int) bool { return found().Needless(i) }
	s.grow = func() ([]sweep.Job, error) {
		more, err := found().Maxima(plan)
		jobs = append(jobs, more...)
		return plain(more), err
	}
	if err := planned(c.Context(), func() error { return o.begin(c.ErrOrStderr(), s) }); err != nil {
		return err
	}
	defer s.close()
	if o.dryRun {
		return s.printPlan(c.OutOrStdout(), found(), plan.HasMaxima())
	}
	if err := reserveResults(o.out, o.points); err != nil {
		return err
	}
	return s.complete(c.Context(), c.ErrOrStderr(), func() error { return o.show(c, found(), s.lacks, command) })
}

// plain are jobs of a plan as a sweeper runs them.
func plain(jobs []reproduce.Job) []sweep.Job {
	list := make([]sweep.Job, len(jobs))
	for i := range jobs {
		list[i] = jobs[i].Job
	}
	return list
}

// printPlan prints the rounds of a plan, with what is there and what the rest takes. maxima: the last follows from the
// others.
func (s *sweeper) printPlan(w io.Writer, f *reproduce.Found, maxima bool) error {
	jobs := f.Jobs
	t := report.Table{
		Title: "Plan", Left: 1,
		Header: []string{"round", "points", "there", "to run", "processor time", "on this machine"},
	}
	queue := s.order()
	for round, what := range reproduce.Rounds { // of the last, those that are known so far
		all, there, run, seconds := 0, 0, 0, 0.0
		for i := range jobs {
			if jobs[i].Round == round {
				if all++; s.found[i] != nil {
					there++
				}
			}
		}
		for _, i := range queue {
			if jobs[i].Round == round {
				d, _ := s.shown.expected(&jobs[i].Job)
				run, seconds = run+1, seconds+d.Seconds()
			}
		}
		t.Rows = append(t.Rows, []string{
			what, fmt.Sprint(all), fmt.Sprint(there), fmt.Sprint(run), rough(inSeconds(seconds)),
			rough(inSeconds(seconds / float64(s.atOnce))),
		})
	}
	t.Note = fmt.Sprintf("%d points at once, about %s of disk. What points took corrects the times as they end.",
		s.atOnce, humanSize(int64(len(queue))*points.Size))
	if shared := len(s.missing) - len(queue); shared > 0 {
		t.Note += fmt.Sprintf(" %s of several figures, and run once.", count(shared, "point"))
	}
	if last := len(t.Rows) - 1; maxima && len(queue) > 0 && t.Rows[last][1] == "0" {
		t.Rows[last] = []string{t.Rows[last][0], "-", "-", "-", "-", "-"}
		t.Note += " The last round follows from the others, and comes on top."
	}
	if needless := f.NeedlessJobs(); needless != "" {
		t.Note += " Not to run: " + needless
	}
	return report.PrintTables(w, []report.Table{t})
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
