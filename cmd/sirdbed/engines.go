package main

import (
	"fmt"
	"os"
	"strings"

	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/emu/virtual/guest"
	"sirdbed/scenarios"
	"sirdbed/sirdnode"
)

// engines makes each engine that this binary has. running is to be told which
// processes are hosts of the fabric that is up, and nil when it is down.
var engines = map[scenarios.Engine]func(running func([]HostState)) emu.Engine{
	scenarios.EngineModel: func(func([]HostState)) emu.Engine { return model.Engine{} },
	scenarios.EngineReal: func(running func([]HostState)) emu.Engine {
		return &emu.Real{
			NodeCommand: []string{"/proc/self/exe", nodeCommand},
			Running: func(hosts []emu.RunningHost) {
				var list []HostState
				for _, h := range hosts {
					list = append(list, HostState{h.Name, h.PID})
				}
				running(list)
			},
		}
	},
	scenarios.EngineVirtual: func(func([]HostState)) emu.Engine { return virtualEngine() },
}

// sandboxed are the engines that build on this machine's kernel, in a sandbox.
var sandboxed = map[scenarios.Engine]bool{scenarios.EngineReal: true}

// nodeCommand is the argument with which sirdbed starts itself as a host.
const nodeCommand = "node"

// inner are the commands that sirdbed starts itself with. They are no part of
// the command line, and begin before it is made.
var inner = map[string]func() (exitCode int){
	nodeCommand: func() int {
		if err := sirdnode.Node(0, os.Stdout, os.NewFile(3, "log")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitFailed
		}
		return exitFine
	},
	guestCommand:       controlGuest,
	guest.InitArgument: beGuestInit,
}

// engineNames lists the engines of this binary.
func engineNames() (names []string) {
	for _, e := range []scenarios.Engine{scenarios.EngineReal, scenarios.EngineVirtual, scenarios.EngineModel} {
		if _, ok := engines[e]; ok {
			names = append(names, string(e))
		}
	}
	return names
}

// engineExists says what to use instead of an engine that this binary has not.
func engineExists(name scenarios.Engine) error {
	if _, ok := engines[name]; ok {
		return nil
	}
	return badInput(fmt.Errorf("this binary has no engine %q: use one of %s (--engine)", name, strings.Join(engineNames(), ", ")))
}
