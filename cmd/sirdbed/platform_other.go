//go:build !linux || portable

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sirdbed/emu"
)

// What sirdbed has where there is no Linux: errors that say so, in place of what
// platform_linux.go has. The tag portable builds it on Linux too, for tests.

// platformEngines are the engines besides the model.
func platformEngines() map[emu.EngineName]engineKind { return map[emu.EngineName]engineKind{} }

// elsewhere returns why this binary lacks an engine that others have, "" if not.
func elsewhere(engine emu.EngineName) string {
	return map[emu.EngineName]string{
		emu.Real:    "its fabric is made of network namespaces",
		emu.Virtual: "it runs in a User-Mode Linux",
	}[engine]
}

// platformCommands are the commands that need Linux. Each only says what for.
func platformCommands() []*cobra.Command {
	return []*cobra.Command{
		needsLinux("exec", "it enters the namespaces of a host of the real engine"),
		needsLinux("up", "it builds a fabric of network namespaces"),
		needsLinux("down", "it takes down what up has built"),
		needsLinux("ps", "it lists what up has built"),
		needsLinux("doctor", "it tries what the engines real and virtual need of the kernel"),
		needsLinux("clean", "it removes what killed runs of the real engine leave behind"),
		needsLinux("devices", "it lists interfaces that the engine real can take"),
		needsLinux("node", "it sends and receives on packet sockets"),
		needsLinux("kernel", "it builds the kernel that the virtual engine runs"),
	}
}

// needsLinux is a command that fails with the reason, whatever its arguments.
func needsLinux(name, why string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Needs Linux: " + why,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%s needs Linux: %s. What works here is the engine %s, topo, report, compare and results",
				name, why, emu.Model)
		},
	}
}

// leaveRoot does nothing: here nothing needs root.
func leaveRoot(what, out string) error { return nil }

func modelRoom(*emu.Experiment) error { return nil }

// modelsAtOnce is how many of n runs of the model a process may have at once: all.
func modelsAtOnce(_ *emu.Experiment, n int) int { return n }

func setUpProcess() (interrupts <-chan struct{}, err error) { return nil, nil }

func innerCommand([]string) (run func() (exitCode int), ok bool) { return nil, false }

func (r *scenarioRun) publish(*emu.Experiment) func([]HostState, []NodeState) { return nil }

func isLimit(error) bool { return false }

func platformWays(*emu.Experiment, error) []string { return nil }
