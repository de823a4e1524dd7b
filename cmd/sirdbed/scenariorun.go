package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"sirdbed/capture"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/scenarios"
	"sirdbed/topo"
)

// A scenarioRun is one run of a scenario.
type scenarioRun struct {
	scenario    *scenarios.Scenario
	engine      emu.EngineName
	experiments []emu.Experiment
	skipped     []results.Skipped // that the engine cannot run
	out         string
	json        bool
	keepUp      bool  // the last variant's fabric
	jobs        int   // that run at once; 0: as many as there are processors
	crew        *crew // of their progress; nil where one runs at a time
	show        showing
	view        *viewing // nil unless it is shown
	files       resultFiles
	release     func() // what the engine needs; nil if nothing is reserved
	joining     joining

	stdout, stderr io.Writer
	dir            *tree.Dir // of the results
	sums           sync.Mutex
	checksums      *results.Checksums // under sums
	failures       []failure
	interrupted    bool // before all variants ended
}

// A failure is a variant that did not run to its end, and why.
type failure struct {
	variant string
	err     error
}

// prepare checks everything that can be checked before anything is started.
func prepare(path string, o runOptions) (*scenarioRun, error) {
	var dirs []string
	if o.out != "" {
		dirs = append(dirs, o.out)
	}
	if err := o.files.check(dirs...); err != nil {
		return nil, err
	}
	s, err := o.scenario(path)
	if err != nil {
		return nil, err
	}
	r := &scenarioRun{scenario: s, engine: s.Engine, out: o.out, json: o.json, keepUp: o.keepUp, files: o.files,
		show: o.show, jobs: o.jobs}
	if o.engine != "" {
		r.engine = emu.EngineName(o.engine)
	}
	if err := engineExists(r.engine); err != nil {
		return nil, err
	}
	if r.keepUp && engines[r.engine].enter == nil {
		return nil, badInput(fmt.Errorf("--hold: the engine %s builds no fabric that could be kept up", r.engine))
	}
	if err := takeGuests(s, o.guests, r.engine); err != nil {
		return nil, err
	}
	if engines[r.engine].asCaller {
		if err := leaveRoot("the engine "+string(r.engine), cmp.Or(o.out, resultsDir)); err != nil {
			return nil, err
		}
	}
	if reserve := engines[r.engine].reserve; reserve != nil {
		if r.release, err = reserve(); err != nil {
			return nil, err
		}
	}
	r.joining = o.joining
	if r.experiments, err = s.Experiments(scenarios.Options{Seed: o.seed, Variants: o.variants}); err != nil {
		return nil, badInput(err)
	}
	return r, r.shareGuests()
}

// scenario loads a scenario with the changes of --set and --dilation.
func (o *runOptions) scenario(path string) (*scenarios.Scenario, error) {
	s, err := loadScenario(path, o.set)
	if err != nil || o.dilation == "" {
		return s, err
	}
	if err := s.Dilation.UnmarshalText([]byte(o.dilation)); err != nil {
		return nil, badInput(fmt.Errorf("--dilation: %w", err))
	}
	s.Set = append(s.Set, "dilation="+o.dilation)
	return s, nil
}

// run runs all variants and reports them.
func (r *scenarioRun) run(ctx context.Context) error {
	if r.release != nil {
		defer r.release()
	}
	if r.joining.listen != "" {
		release, err := engines[r.engine].admit(r)
		if err != nil {
			return err
		}
		defer release()
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
	defer r.dir.Close()
	unlock, err := r.keepScenario()
	if err != nil {
		return explainDisk(err, r.dir.Path())
	}
	defer unlock()
	r.announce(size)
	if err := r.startViewing(); err != nil {
		return err
	}
	defer r.view.finish()
	r.runVariants(ctx)
	return r.report()
}

// startViewing has the run shown, if that was asked for.
func (r *scenarioRun) startViewing() (err error) {
	if !r.show.any() {
		return nil
	}
	if r.view = sandboxViewing(); r.view == nil {
		r.view, err = startViewer()
	}
	r.view.begin(r)
	return err
}

// announce writes what is about to run, and about how much disk it takes.
func (r *scenarioRun) announce(size int64) {
	if r.json {
		return
	}
	fmt.Fprintf(r.stderr, "%s: %s, engine %s, about %s of results in %s\n",
		r.scenario.Name, shape(r.scenario.Fabric().Spec), r.engine, humanSize(size), r.dir.Path())
	for _, skipped := range r.skipped {
		fmt.Fprintf(r.stderr, "not run: %s: %s\n", skipped.Variant, skipped.Reason)
	}
}

// keepScenario writes down what is run, so that report knows it even if this
// process is killed. The result is locked until unlock is called.
func (r *scenarioRun) keepScenario() (unlock func(), err error) {
	variants, err := r.dir.Make(results.VariantsDir)
	if errors.Is(err, fs.ErrExist) { // another run was faster
		return nil, badInput(notEmpty(r.dir.Path(), results.VariantsDir))
	}
	if err != nil {
		return nil, err
	}
	variants.Close()
	if err := r.dir.WriteText(scenarioText, []byte(r.text())); err != nil {
		return nil, err
	}
	unlock, noLocks, err := beginResult(r.dir, r.record(), keepLock)
	if err != nil {
		return nil, err
	}
	if noLocks != nil {
		fmt.Fprintf(r.stderr, "warning: %s cannot be locked, so that sirdbed results will not list it as running: %v\n",
			r.dir.Path(), noLocks)
	}
	if err := r.keepChecksums(scenarioText, scenarioFile); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// text is the scenario's file, with what --set has changed at its head.
func (r *scenarioRun) text() string {
	head := ""
	for _, set := range r.scenario.Set {
		for i, line := range strings.FieldsFunc(set, func(c rune) bool { return c == '\n' || c == '\r' }) {
			if i == 0 {
				line = "run with --set " + line
			}
			head += "# " + line + "\n"
		}
	}
	return head + r.scenario.Text()
}

// keepChecksums adds files that will not change any more to the result's checksums.
func (r *scenarioRun) keepChecksums(names ...string) error {
	r.sums.Lock()
	defer r.sums.Unlock()
	if r.checksums == nil {
		r.checksums = results.NewChecksums()
	}
	for _, name := range names {
		if err := r.checksums.Add(r.dir, name); err != nil {
			return fmt.Errorf("checksums: %w", err)
		}
	}
	return r.dir.WriteJSON(results.ChecksumsFile, r.checksums)
}

// runVariant runs experiment i. The error is why it failed, errInterrupted if it was not
// its fault; the others still run.
func (r *scenarioRun) runVariant(ctx context.Context, i int) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	x := &r.experiments[i]
	name := results.VariantsDir + "/" + x.Variant
	p := newProgress(r.stderr, r.json, r.show.watch, x, i, len(r.experiments), r.crew)
	p.view = r.view
	dir, err := r.dir.Make(name)
	if err == nil {
		r.view.variant(i)
		var facts *emu.Facts
		engine := engines[r.engine].make(whileUp{r.publish(x), r.keepingUp(i, p), p.met})
		facts, err = engine.Run(ctx, x, emu.RunDir{Dir: dir}, emu.Hooks{
			Progress: p.reached,
			OpenCapture: func(file *os.File, node *topo.Node) (emu.Capture, error) {
				return capture.Create(file, r.scenario.Fabric(), node)
			},
		})
		if took := r.view.ended(err != nil); took != nil && facts != nil {
			facts.Live = took
			err = cmp.Or(err, emu.RunDir{Dir: dir}.End(facts))
		}
		dir.Close()
		err = cmp.Or(err, r.keepChecksums(name))
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		p.done(context.Canceled)
		return errInterrupted
	}
	err = explainDisk(err, r.dir.Path())
	p.done(err)
	return err
}

// keepingUp returns what keeps the fabric of experiment i up, nil unless it is the
// last one and that was asked for.
func (r *scenarioRun) keepingUp(i int, p *progress) func(context.Context) {
	if !r.keepUp || i+1 < len(r.experiments) {
		return nil
	}
	return func(ctx context.Context) {
		p.pause("the fabric is kept up: enter it with sirdbed exec HOST in another terminal, end it with Ctrl-C")
		<-ctx.Done()
	}
}
