// Command sirdbed emulates a datacenter fabric on this machine, runs a transport
// protocol's real code on its hosts, and measures what happens. It wires the other
// packages together, and starts itself again as each host process of a fabric
// (package hostfirst).
//
// Each command has a file of its own here; main.go is what they share.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/scenarios"
)

// Exit codes.
const (
	exitFine     = 0
	exitFailed   = 1
	exitBadInput = 2
	exitInvalid  = 3 // the machine was too slow for the result to stand
	exitUnmet    = 4 // a bound of the scenario is not met
	exitStopped  = 130
)

// A codedError ends the command with an exit code of its own.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{exitBadInput, err}
}

// errReported is wrapped by errors that have been told already: only the exit
// code is left.
var errReported = errors.New("reported")

func main() { os.Exit(Main()) }

// Main runs the command line and returns the exit code.
func Main() int {
	if run, ok := innerCommand(os.Args[1:]); ok {
		return run()
	}
	if err := setUpProcess(); err != nil {
		fmt.Fprintf(os.Stderr, "sirdbed: %v\n", err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	defer stop()
	context.AfterFunc(ctx, func() {
		// A second signal kills at once. The first may come more than once, from
		// the terminal and from the processes around a sandbox.
		time.Sleep(time.Second)
		stop()
	})
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// ends lists the signals that end a command early: a terminal that closes is an
// interrupt too, unless nohup has SIGHUP ignored.
func ends() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitFine
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(stderr, "sirdbed: %v\n", err)
	}
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	if _, ok := errors.AsType[scenarios.Errors](err); ok {
		return exitBadInput
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sirdbed",
		Short: "A hardware-in-the-loop testbed for datacenter transports",
		Long: text(`
			sirdbed builds a leaf-spine fabric out of Linux network namespaces, runs one real host process in each, and measures
			what the fabric did: queue depths, goodput, message latency and slowdown. Its first protocol is SIRD.

			Everything a user states or reads is nominal: a 100 Gbps link and a microsecond are what the scenario says they are.
			The real engine runs all of it slower by one factor, the dilation, so that this machine can keep up.`),
		Example: text(`
			sirdbed doctor                        what this machine can do
			sirdbed run quickstart                a scenario that is in the binary, under 15 s
			sirdbed run scenarios/incast.yaml     a scenario file
			sirdbed topo scenarios/incast.yaml    its fabric
			sirdbed compare results/A results/B   results side by side`),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return badInput(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	root.AddCommand(
		newRun(), newReport(), newCompare(), newResults(), newExplain(), newTopo(), newVersion(),
	)
	root.AddCommand(platformCommands()...)
	settle(root)
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return badInput(fmt.Errorf("no command is called %q (see sirdbed --help)", args[0]))
		}
		return nil
	}
	root.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	return root
}

// settle gives the commands below root what all have in common: arguments that one
// does not take are bad input, and none but those that say so complete file names.
func settle(root *cobra.Command) {
	for _, c := range root.Commands() {
		settle(c)
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = noFiles
		}
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if err := check(c, args); err != nil {
					return badInput(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
				}
				return nil
			}
		}
	}
}

// text strips the indentation that a text has in the source.
func text(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	margin := len(lines[0]) - len(strings.TrimLeft(lines[0], "\t"))
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, strings.Repeat("\t", min(margin, len(l)-len(strings.TrimLeft(l, "\t")))))
	}
	return strings.Join(lines, "\n")
}

// printJSON prints a value for machines, and for people who look.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}
