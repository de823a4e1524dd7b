package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/scenarios"
)

// An engineKind is how this program makes and runs one of its engines.
type engineKind struct {
	make func(whileUp) emu.Engine
	// room, if set, reports whether a process may have what an experiment takes, before
	// anything is entered or made.
	room func(*emu.Experiment) error
	// enter, if set, runs this command line again in a sandbox, where the engine
	// may build fabrics, and returns done; unless this process is in one. afterDeath
	// is what to do where that is killed.
	enter func(_ context.Context, _ []emu.Experiment, _ showing, _ joining, afterDeath string) (done bool, err error)
	// admit, if set, has peers of devices join a run, until release is called.
	admit func(*scenarioRun) (release func(), err error)
	// asCaller says that sudo is nothing to it: it runs as the user who called that.
	asCaller bool
	// atOnce, if set, says that runs may go side by side: up to how many of n at once.
	atOnce func(x *emu.Experiment, n int) int
	// guests, if set, is how many guests an experiment can be split over, most at most.
	guests func(x *emu.Experiment, most int) (int, error)
	// merge, if set, makes one of what the parts of a run have left that was killed.
	merge func(dir emu.RunDir, x *emu.Experiment) error
	// reserve, if set, keeps what the engine needs from being removed until
	// release is called.
	reserve func() (release func(), err error)
}

// engines are the engines of this binary: the model, and those of the platform.
var engines = allEngines()

func allEngines() map[emu.EngineName]engineKind {
	all := platformEngines()
	all[emu.Model] = engineKind{
		make: func(whileUp) emu.Engine { return model.Engine{} }, asCaller: true, room: modelRoom, atOnce: modelsAtOnce,
	}
	return all
}

// whileUp is what is to happen while a fabric is up.
type whileUp struct {
	// running takes the host processes and nodes, and nil when the fabric goes down.
	running func([]HostState, []NodeState)
	keepUp  func(context.Context) // if set, returns when the fabric may go down
	met     func(times int64, waited []time.Duration)
}

// A HostState is one host of a fabric that is up.
type HostState struct {
	Name string `json:"name"`
	PID  int    `json:"pid"` // a process in its namespaces
}

// A NodeState is one host or switch of a fabric that is up.
type NodeState struct {
	Name      string `json:"name"`
	Namespace int    `json:"namespace"`        // descriptor of its network namespace, in who keeps the fabric up
	Device    bool   `json:"device,omitempty"` // it is one of the machine, and has nothing to enter
}

// engineNames lists the engines of this binary.
func engineNames() (names []string) {
	for _, e := range emu.EngineNames {
		if _, ok := engines[e]; ok {
			names = append(names, string(e))
		}
	}
	return names
}

// engineExists returns an error for an engine that this binary lacks.
func engineExists(name emu.EngineName) error {
	if _, ok := engines[name]; ok {
		return nil
	}
	if why := elsewhere(name); why != "" {
		return fmt.Errorf("the %s engine needs Linux: %s; use --engine %s here", name, why, emu.Model)
	}
	return badInput(fmt.Errorf("this binary has no engine %q: use one of %s (--engine)%s",
		name, strings.Join(engineNames(), ", "), scenarios.DidYouMean(string(name), engineNames())))
}

// reserveEngine keeps what an engine needs from being removed until release is called. Its
// error says that this binary or machine lacks that.
func reserveEngine(name emu.EngineName) (release func(), err error) {
	if err := engineExists(name); err != nil {
		return nil, err
	}
	if reserve := engines[name].reserve; reserve != nil {
		return reserve()
	}
	return func() {}, nil
}

// checkRoom reports a run for which a process may have too little.
func (r *scenarioRun) checkRoom() error {
	room := engines[r.engine].room
	if room == nil {
		return nil
	}
	for i := range r.experiments {
		x := &r.experiments[i]
		if err := room(x); err != nil {
			return r.cannotRun(x, err)
		}
	}
	return nil
}

// cannotRun is the error of something that the machine lacks, with what to do. A limit
// says that itself, and other engines have it too.
func (r *scenarioRun) cannotRun(x *emu.Experiment, err error) error {
	if isLimit(err) {
		return fmt.Errorf("%s cannot run here: %w", x.Variant, err)
	}
	return fmt.Errorf("%s cannot run here: %w%s", x.Variant, err, r.waysOut(x, err))
}

// check finds out whether the machine has what the experiments need, before
// anything is built. Its error says what to do. Experiments whose protocol the
// engine cannot run are skipped if there are others.
func (r *scenarioRun) check() error {
	engine := engines[r.engine].make(whileUp{})
	var suited []emu.Experiment
	var unsuited error
	for i := range r.experiments {
		x := &r.experiments[i]
		switch err := engine.Check(x); {
		case err == nil:
			suited = append(suited, *x)
		case errors.Is(err, emu.ErrUnsuited):
			unsuited = err
			skipped := results.Skipped{Variant: x.Variant, Protocol: x.Protocol, Reason: err.Error()}
			r.skipped = append(r.skipped, skipped)
		case errors.Is(err, emu.ErrNotSupported):
			return r.cannotRun(x, err)
		default:
			return badInput(fmt.Errorf("%s: %w", x.Variant, err))
		}
	}
	if len(suited) == 0 && unsuited != nil {
		return badInput(fmt.Errorf("nothing to run on the engine %s: %w", r.engine, unsuited))
	}
	r.experiments = suited
	return nil
}

// waysOut returns what to do about something that the machine lacks.
func (r *scenarioRun) waysOut(x *emu.Experiment, err error) string {
	ways := platformWays(x, err)
	for _, name := range engineNames() {
		if name != string(r.engine) {
			ways = append(ways, "--engine "+name)
		}
	}
	return "\nWhat to do:\n  " + strings.Join(append(ways, "sirdbed doctor has the details"), "\n  ")
}
