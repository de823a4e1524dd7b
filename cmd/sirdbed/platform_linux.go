//go:build !portable

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sirdbed/cmd/sirdbed/hostfirst"
	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/launch"
	"sirdbed/emu/model"
	"sirdbed/emu/real"
	"sirdbed/emu/rlimit"
	"sirdbed/emu/sandbox"
	"sirdbed/emu/sudo"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/sird"
)

// What sirdbed has on Linux alone: the engines real and virtual, the commands
// around them, and the processes that they start. platform_other.go is its
// counterpart for other systems.

// platformEngines are the engines besides the model.
func platformEngines() map[emu.EngineName]engineKind {
	return map[emu.EngineName]engineKind{
		emu.Real:    realKind(),
		emu.Virtual: virtualKind(),
	}
}

// elsewhere returns why this binary lacks an engine that others have, "" if not.
func elsewhere(emu.EngineName) string { return "" }

// platformCommands are the commands that need Linux.
func platformCommands() []*cobra.Command {
	return []*cobra.Command{newUp(), newDown(), newPs(), newExec(), newDoctor(), newClean(), newDevices(), newNode(),
		newKernel()}
}

// setUpProcess is what a process of the command line does first. It returns the
// interrupts that come by another way than signals.
func setUpProcess() (interrupts <-chan struct{}, err error) {
	if err := sandbox.SetupInit(); err != nil {
		return nil, cmp.Or(explainLimit(err), err)
	}
	return sandbox.Interrupts(), nil
}

// modelRoom reports whether a process may have what a run of the model takes.
func modelRoom(x *emu.Experiment) error { return rlimit.Descriptors(model.Descriptors(x)) }

// modelsAtOnce is how many of n runs of the model a process may have at once.
func modelsAtOnce(x *emu.Experiment, n int) int {
	for n > 1 && rlimit.Descriptors(n*model.Descriptors(x)) != nil {
		n--
	}
	return n
}

func realEngine(up whileUp) *real.Engine {
	var nodes []NodeState
	return &real.Engine{
		NodeCommand: hostCommand,
		KeepUp:      up.keepUp,
		Devices:     deviceMachine(),
		Built:       func(f *fabric.Fabric) { nodes = nodesOf(f) },
		Running: func(hosts []real.RunningHost) {
			switch {
			case up.running == nil:
			case hosts == nil:
				up.running(nil, nil)
			default:
				up.running(hostStates(hosts), nodes)
			}
		},
	}
}

func hostStates(hosts []real.RunningHost) (list []HostState) {
	for _, h := range hosts {
		list = append(list, HostState{h.Name, h.PID})
	}
	return list
}

// nodesOf lists the nodes of a fabric of this process.
func nodesOf(f *fabric.Fabric) (list []NodeState) {
	for i := range f.Topology().Nodes {
		n := &f.Topology().Nodes[i]
		list = append(list, NodeState{n.Name, f.NamespaceFD(n.ID), f.IsDevice(n.ID)})
	}
	return list
}

// hostCommand starts a host process: this program again.
var hostCommand = []string{"/proc/self/exe", hostfirst.Command}

// inner are the other commands that sirdbed starts itself with. They are not part
// of the command line, and run before it is built.
var inner = map[string]func() (exitCode int){
	guestCommand:    controlGuest,
	restorerCommand: restoreAfterRun,
	launch.Argument: controlProgram,
}

// innerCommand returns what this process was started for, if not by a user.
func innerCommand(args []string) (run func() (exitCode int), ok bool) {
	if be, ok := guest.Role(args); ok {
		return func() int {
			err := be()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			return codeOf(err)
		}, true
	}
	if len(args) == 0 {
		return nil, false
	}
	run, ok = inner[args[0]]
	return run, ok
}

// isLimit reports whether an error is of a limit of processes (see package rlimit).
func isLimit(err error) bool {
	_, ok := errors.AsType[*rlimit.Error](err)
	return ok
}

// platformWays returns what to do about something of Linux that the machine lacks.
func platformWays(x *emu.Experiment, err error) (ways []string) {
	if errors.Is(err, emu.ErrNoMarker) {
		if !sudo.Root() {
			ways = append(ways, "run it with sudo: root can mark by eBPF")
		}
		if x.Protocol == sird.Protocol.Name {
			ways = append(ways, "do without marks: --set sird.ecn=none (sird: {ecn: none} in the scenario)")
		}
		ways = append(ways, "run it on the model, which needs nothing of this kernel: --engine model")
	}
	return ways
}
