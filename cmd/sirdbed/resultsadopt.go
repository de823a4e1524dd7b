package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/baselines/all"
	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

func newResultsAdopt() *cobra.Command {
	var repeat, jobs int
	var protocols []string
	c := &cobra.Command{
		Use:   "adopt [DIRECTORY]",
		Short: "Take over points of earlier code whose results today's code repeats",
		Long: text(`
			Points in DIRECTORY (default: ` + pointsDir + `) that were made by other code than this program's would all
			be run again, even if what changed cannot change their results. adopt runs some of them again: of each
			protocol as many as --repeat says, chosen by a hash of their names and of the code. Where all of these have
			the same figures as before, to the digits that are kept, the others of that protocol are taken over: they
			count as made by this code, and say by which they were and how many were repeated. Where one differs, the
			difference is shown, and nothing of that protocol is taken over.

			Points of the engine real, which no run repeats, and those that were ended early since a queue grew are left
			as they are.

			Exit codes: 0 fine, 1 failed, 2 bad input, 4 some differ, 130 interrupted.`),
		Example: examples(`
			sirdbed results adopt
			sirdbed results adopt scenarios/paper/points --repeat 5 --protocols homa,dcpim`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: first(directories),
		RunE: func(c *cobra.Command, args []string) error {
			path := pointsDir
			if len(args) > 0 {
				path = args[0]
			}
			if repeat < 1 {
				return badInput(fmt.Errorf("--repeat is %d: want 1 or more", repeat))
			}
			if jobs < 0 {
				return badInput(fmt.Errorf("--jobs is %d: want 1 or more, or 0 for one a processor", jobs))
			}
			a := &adoption{repeat: repeat, jobs: jobs, run: runPoint, out: c.OutOrStdout(), progress: c.ErrOrStderr()}
			return a.adopt(c.Context(), path, protocols)
		},
	}
	c.Flags().IntVar(&repeat, "repeat", 3, "run `N` points of each protocol again")
	c.Flags().IntVar(&jobs, "jobs", 0, "run `N` at once (default: one for each processor)")
	c.Flags().StringSliceVar(&protocols, "protocols", nil, "take over points of these protocols only")
	return c
}

// An adoption takes over the points of a store that today's code repeats.
type adoption struct {
	repeat, jobs  int
	run           runner
	out, progress io.Writer

	mu    sync.Mutex
	ended int // points that were run again
	of    int
}

// A family is points of one protocol on one engine by one code: they are taken over together.
type family struct {
	engine         emu.EngineName
	protocol, made string // by which code
	here           string // this program's
	points         []*points.Point
	repeated       []*points.Point // those of points that are run again
	left           int             // that no run repeats
	differences    []string
}

func (f *family) String() string { return fmt.Sprintf("%s on %s by %s", f.protocol, f.engine, f.made) }

func (a *adoption) adopt(ctx context.Context, path string, protocols []string) error {
	for _, name := range protocols {
		if _, err := all.Find(name); err != nil {
			return badInput(err)
		}
	}
	store, err := points.ViewStore(path)
	if err != nil {
		return badInput(err)
	}
	defer store.Close()
	families, err := familiesIn(store, protocols, a.repeat)
	if err != nil {
		return badInput(err)
	}
	sayDamaged(a.progress, store.Damaged(), "and left")
	if len(families) == 0 {
		if keys, err := store.Keys(); err == nil && len(keys) == 0 {
			return badInput(fmt.Errorf("%s has no points", report.Printable(path)))
		}
		fmt.Fprintf(a.out, "%s: nothing to take over\n", report.Printable(path))
		return nil
	}
	if err := store.Prepare(); err != nil {
		return explainPoints(err, path)
	}
	if err := a.repeatSome(ctx, families); err != nil {
		return err
	}
	differ := false
	for _, f := range families {
		differ = differ || len(f.differences) > 0
		if err := f.take(store); err != nil {
			return explainPoints(err, path)
		}
		f.say(a.out)
	}
	if differ {
		return &codedError{exitUnmet, errReported}
	}
	return nil
}

// familiesIn lists what could be taken over, and as many points of each as are to be repeated. Points
// that no run repeats are counted only.
func familiesIn(store *points.Store, protocols []string, repeat int) (list []*family, err error) {
	keys, err := store.Keys()
	if err != nil {
		return nil, err
	}
	found := map[string]*family{}
	for _, key := range keys {
		p, _ := store.Get(points.Address{Key: key})
		if p == nil || p.IsInvalid() || len(protocols) > 0 && !slices.Contains(protocols, p.Protocol()) {
			continue
		}
		here, err := points.AddressOf(p.Engine, &p.Experiment)
		if err != nil || here.Code == p.Code {
			continue // of a protocol that is not here, or up to date
		}
		f := &family{engine: p.Engine, protocol: p.Protocol(), made: p.Code, here: here.Code}
		if known := found[f.String()]; known != nil {
			f = known
		}
		found[f.String()] = f
		if p.Engine == emu.Real || p.Unbounded != "" {
			f.left++
			continue
		}
		f.points = append(f.points, p)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := found[name]
		// Nobody can choose which come first.
		slices.SortFunc(f.points, func(p, q *points.Point) int { return cmp.Compare(f.rank(p), f.rank(q)) })
		f.repeated = f.points[:min(repeat, len(f.points))]
		list = append(list, f)
	}
	return list, nil
}

// rank is the place of a point in the order in which a family's are run again.
func (f *family) rank(p *points.Point) string {
	sum := sha256.Sum256([]byte(f.here + p.Key))
	return hex.EncodeToString(sum[:])
}

// repeatSome runs the chosen points of each family again, the longest first, and notes what differs.
func (a *adoption) repeatSome(ctx context.Context, families []*family) error {
	type task struct {
		f *family
		p *points.Point
	}
	var tasks []task
	var runs []engineRun
	for _, f := range families {
		for _, p := range f.repeated {
			tasks = append(tasks, task{f, p})
			runs = append(runs, engineRun{p.Engine, &p.Experiment})
		}
	}
	slices.SortStableFunc(tasks, func(x, y task) int { return cmp.Compare(y.p.Seconds(), x.p.Seconds()) })
	a.of = len(tasks)
	sideBySide(runsAtOnce(a.jobs, runs), tasks, func(t task) { a.repeatOne(ctx, t.f, t.p) })
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// repeatOne runs a point again and notes in what it differs.
func (a *adoption) repeatOne(ctx context.Context, f *family, p *points.Point) {
	if ctx.Err() != nil {
		return
	}
	began := time.Now()
	j := &sweep.Job{Experiment: p.Experiment, Engine: p.Engine, Address: points.Address{Key: p.Key, Code: f.here}}
	again, err := a.run.guarded(ctx, j, func(units.Time) {}, patience)
	difference := ""
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err != nil:
		difference = err.Error()
	default:
		difference = differenceOf(p, again)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended++
	said := cmp.Or(difference, "the same")
	fmt.Fprintf(a.progress, "[%d/%d] %s: %s, in %s\n", a.ended, a.of, report.Printable(pointName(p)),
		report.Printable(said), rough(time.Since(began)))
	if difference != "" {
		f.differences = append(f.differences, pointName(p)+": "+difference)
	}
}

// differenceOf says by which figure two points of an experiment differ the most, and by how
// much; "": by none.
func differenceOf(a, b *points.Point) string {
	x, err := wholePoint(a)
	y, err2 := wholePoint(b)
	if err := errors.Join(err, err2); err != nil {
		return err.Error()
	}
	most, name := rounding, ""
	for _, values := range []map[string]any{x, y} {
		for _, n := range slices.Sorted(maps.Keys(values)) {
			if share := differing(x[n], y[n]); share > most {
				most, name = share, n
			}
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s was %s and is %s", name, valueText(x[name]), valueText(y[name]))
}

// wholePoint is all of a point but what depends on the machine and on the code. Of checks their
// levels count: what they found may be told by any of several messages that are equally fast.
func wholePoint(p *points.Point) (map[string]any, error) {
	return flat(p, "experiment", "finished", "go", "machine", "processor_seconds", "code", "made", "found", "reasons")
}

// take has the points of a family count as made by this code, unless one differs.
func (f *family) take(store *points.Store) error {
	if len(f.differences) > 0 {
		return nil
	}
	for _, p := range f.points {
		p.Made = &points.Made{Code: f.made, Repeated: len(f.repeated), Of: len(f.points)}
		p.Code = f.here
		if _, err := store.Put(p); err != nil {
			return err
		}
	}
	return nil
}

// say prints what became of a family.
func (f *family) say(w io.Writer) {
	switch {
	case len(f.points) == 0:
	case len(f.differences) > 0:
		fmt.Fprintf(w, "%s: not taken over, since not all are the same\n  %s\n", report.Printable(f.String()),
			report.Printable(strings.Join(f.differences, "; ")))
	default:
		fmt.Fprintf(w, "%s: %s taken over; %d of them repeated, with the same figures\n", report.Printable(f.String()),
			count(len(f.points), "point"), len(f.repeated))
	}
	if f.left > 0 {
		fmt.Fprintf(w, "%s: %s left: no run repeats what is real, or was ended early\n", report.Printable(f.String()),
			count(f.left, "point"))
	}
}
