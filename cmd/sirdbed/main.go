// Command sirdbed emulates a datacenter fabric on this machine, runs a transport
// protocol's real code on its hosts, and measures what happens. It wires the other
// packages together, and starts itself again as each host process of a fabric
// (package hostfirst).
//
// Each command has a file of its own; main.go is what they share. What needs Linux
// is in files with that suffix (platform_linux.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sirdbed/capture/report"
	"sirdbed/cmd/sirdbed/interruptfirst"
	"sirdbed/emu"
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
	exitPipe     = 141 // who read the output is gone: what a shell makes of SIGPIPE
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

// errReported is wrapped by errors whose message has been written already: only
// the exit code is left.
var errReported = errors.New("reported")

func main() { os.Exit(Main()) }

// ownProcess says that the command line is this process's own, os.Args, so that it may
// be run again in its place.
var ownProcess bool

// stoppable are the commands that have something to end in good order when they are
// interrupted: their context is then done.
var stoppable = []string{"run", "sweep", "reproduce", "up", "kernel", "doctor", "node"}

// Main runs the command line and returns the exit code.
func Main() int {
	ownProcess = true
	if run, ok := startedFor(os.Args[1:]); ok {
		return run()
	}
	interrupts, err := setUpProcess()
	if err != nil {
		fmt.Fprintf(os.Stderr, "sirdbed: %v\n", err)
		return codeOf(err)
	}
	interruptfirst.Catch()
	// Who reads the output may go away. That ends no run: see exitPipe.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-interruptfirst.Caught:
		case <-interrupts:
		}
		if len(os.Args) > 1 && !slices.Contains(stoppable, os.Args[1]) {
			os.Exit(exitStopped)
		}
		cancel()
		// A second signal kills at once. The first may come more than once, as
		// timeout(1) sends it to a process and to its group.
		time.Sleep(time.Second)
		interruptfirst.Release()
	}()
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// startedFor returns what sirdbed has started this process for, if it was not a user.
func startedFor(args []string) (run func() (exitCode int), ok bool) {
	if len(args) > 0 && args[0] == viewerCommand {
		return viewerMain, true
	}
	return innerCommand(args)
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	out := &output{to: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil { // a command need not look at each line that it prints
		err = out.err
	}
	if err != nil && !errors.Is(err, errReported) && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(stderr, "sirdbed: %s\n", printableLines(err.Error()))
	}
	return codeOf(err)
}

// An output is where a command prints. It remembers the first error.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// printableLines is a text of several lines, each report.Printable but for its tabs.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if plain := strings.ReplaceAll(line, "\t", " "); report.Printable(plain) != plain {
			lines[i] = report.Printable(line)
		}
	}
	return strings.Join(lines, "\n")
}

// codeOf returns the exit code that an error stands for.
func codeOf(err error) int {
	if err == nil {
		return exitFine
	}
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	if _, ok := errors.AsType[scenarios.Errors](err); ok || errors.Is(err, emu.ErrInner) {
		return exitBadInput
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitPipe
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sirdbed",
		Short: "A hardware-in-the-loop testbed for datacenter transports",
		Long: text(`
			sirdbed emulates a leaf-spine fabric, runs the code of a transport protocol on its hosts, and measures what
			happens: queue depths, goodput, message latency and slowdown. Its first protocol is SIRD; Homa, dcPIM,
			ExpressPass, Swift, DCTCP and the kernel's TCP are there for comparison.

			The real engine builds the fabric out of Linux network namespaces, with a process for each host. The
			virtual engine does the same in a User-Mode Linux whose clock stands still while it computes. The model
			computes everything, and works everywhere.

			Everything stated or measured is nominal: 100 Gbps and a microsecond are what the scenario says they are.
			The real engine runs everything slower by one factor, the dilation, so that this machine can keep up.`),
		Example: examples(`
			sirdbed doctor                        what this machine can do
			sirdbed run quickstart                a scenario in the binary, in under 15 s
			sirdbed run scenarios/incast.yaml     a scenario file
			sirdbed topo scenarios/incast.yaml    the fabric of a scenario
			sirdbed compare results/A results/B   results side by side`),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return badInput(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	addGroup(root, "Experiments:", newRun(), newSweep(), newReproduce(), newTopo(), newReport(), newExplain(),
		newCompare(), newResults(), newPackets(), newDissector())
	addGroup(root, "This machine:", platformCommands()...)
	const others = "Other commands:"
	addGroup(root, others, newVersion())
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	settle(root)
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			var names []string
			for _, c := range root.Commands() {
				names = append(names, c.Name())
			}
			return badInput(fmt.Errorf("no command is called %q (see sirdbed --help)%s",
				args[0], scenarios.DidYouMean(args[0], names)))
		}
		return nil
	}
	root.PersistentPreRunE = refuseEmpty
	root.RunE = func(c *cobra.Command, args []string) error { return c.Help() }
	return root
}

// refuseEmpty refuses an empty name, which most often is a shell's variable that is not
// set, and would mean the working directory or a default.
func refuseEmpty(c *cobra.Command, args []string) (err error) {
	if len(args) > 0 && args[0] == "" {
		return badInput(fmt.Errorf("the first argument is empty (see %s --help)", c.CommandPath()))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok && f.Value.Type() == "stringSlice" {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty {
			err = badInput(fmt.Errorf("--%s is given, and empty: leave it out, or give it a value", f.Name))
		}
	})
	return err
}

// addGroup adds commands under a heading of their own.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// settle gives the commands below root what all have in common: arguments that one
// does not take are bad input, and only those that say so complete file names.
func settle(root *cobra.Command) {
	for _, c := range root.Commands() {
		settle(c)
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = noFiles
		}
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if check(c, args) == nil {
					return nil
				}
				usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
				return badInput(fmt.Errorf("usage: %s, not %s (see %s --help)",
					usage, count(len(args), "argument"), c.CommandPath()))
			}
		}
	}
}
