package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/cmd/sirdbed/hostfirst"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/emu/real"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/sird"
)

// engines makes each engine that this binary has.
var engines = map[emu.EngineName]func(whileUp) emu.Engine{
	emu.Model: func(whileUp) emu.Engine { return model.Engine{} },
	emu.Real: func(up whileUp) emu.Engine {
		return &real.Engine{
			NodeCommand: hostCommand,
			KeepUp:      up.keepUp,
			Running: func(hosts []real.RunningHost) {
				var list []HostState
				for _, h := range hosts {
					list = append(list, HostState{h.Name, h.PID})
				}
				up.running(list)
			},
		}
	},
	emu.Virtual: func(whileUp) emu.Engine { return virtualEngine() },
}

// whileUp is what is to happen while a fabric is up.
type whileUp struct {
	running func([]HostState)     // is told which processes are hosts, and nil when it goes down
	keepUp  func(context.Context) // if set, returns when the fabric may go down
}

// sandboxed are the engines that build on this machine's kernel, in a sandbox.
var sandboxed = map[emu.EngineName]bool{emu.Real: true}

// hostCommand starts a host process: this program again.
var hostCommand = []string{"/proc/self/exe", hostfirst.Command}

// inner are the other commands that sirdbed starts itself with. They are no part
// of the command line, and begin before it is made.
var inner = map[string]func() (exitCode int){
	guestCommand: controlGuest,
}

// innerCommand returns what this process was started for, if not by a user.
func innerCommand(args []string) (run func() (exitCode int), ok bool) {
	if be, ok := guest.Part(args); ok {
		return func() int {
			if err := be(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitFailed
			}
			return exitFine
		}, true
	}
	if len(args) == 0 {
		return nil, false
	}
	run, ok = inner[args[0]]
	return run, ok
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

// engineExists says what to use instead of an engine that this binary has not.
func engineExists(name emu.EngineName) error {
	if _, ok := engines[name]; ok {
		return nil
	}
	return badInput(fmt.Errorf("this binary has no engine %q: use one of %s (--engine)", name, strings.Join(engineNames(), ", ")))
}

// check finds out whether the machine has what the experiments need, before
// anything is made of them. Its error says what to do. Experiments whose protocol
// the engine cannot run are skipped, if there are others.
func (r *scenarioRun) check() error {
	engine := engines[r.engine](whileUp{})
	var suited []emu.Experiment
	var unsuited error
	for i := range r.experiments {
		x := &r.experiments[i]
		switch err := engine.Check(x); {
		case err == nil:
			suited = append(suited, *x)
		case errors.Is(err, emu.ErrUnsuited):
			unsuited = err
			r.skipped = append(r.skipped, results.Skipped{Variant: x.Variant, Protocol: x.Protocol, Reason: err.Error()})
		case errors.Is(err, emu.ErrNotSupported):
			return fmt.Errorf("%s cannot run here: %w%s", x.Variant, err, r.waysOut(x, err))
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

// waysOut says what to do about something that the machine lacks.
func (r *scenarioRun) waysOut(x *emu.Experiment, err error) string {
	var ways []string
	if errors.Is(err, emu.ErrNoMarker) {
		if os.Getuid() != 0 || inUserNamespace() {
			ways = append(ways, "run it with sudo: root can mark by eBPF")
		}
		if x.Protocol == sird.Protocol.Name {
			ways = append(ways, "do without marks: --set sird.ecn=none (sird: {ecn: none} in the scenario)")
		}
	}
	for _, name := range engineNames() {
		if name != string(r.engine) {
			ways = append(ways, "--engine "+name)
		}
	}
	return "\nWhat to do:\n  " + strings.Join(append(ways, "sirdbed doctor has the details"), "\n  ")
}
