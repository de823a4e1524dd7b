//go:build !portable

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"sirdbed/emu/launch"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/topo"
)

func newExec() *cobra.Command {
	var run string
	c := &cobra.Command{
		Use:   "exec NODE [COMMAND [ARG...]]",
		Short: "Run a shell or a command inside a host or switch of a fabric that is up",
		Long: text(`
			Enter the namespaces of a host or switch of a fabric that is up, and run a command there, or a shell if none
			is given. Hosts have the names that they have in the scenario: ping h1-2 works. The kernel of host hL-H has
			the address 10.250.L.H, and its interface is named after its leaf.

			A fabric is brought up by sirdbed up, or belongs to a run in another terminal and ends with it: sirdbed run
			--hold keeps it up. What runs in a fabric ends with it. If several are up, --run chooses one; without it,
			the newest is entered.

			On the engine virtual the clock stands still while no command runs, so the next begins at the time when the
			last one ended. A command's standard input is read to its end beforehand (none, if it is a terminal), and it
			has no terminal. A command that spins stops the clock, and is ended.`),
		Example: examples(`
			sirdbed exec h1-3                            a shell in h1-3
			sirdbed exec h1-3 ping -c 3 h1-8             a command
			sirdbed exec leaf1 tc -s qdisc show          the ports of a switch
			sirdbed exec --run incast-20250101-120000-srpt h1-8 ip -s link`),
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeNode,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := chooseRun(run, c.ErrOrStderr())
			if err != nil {
				return err
			}
			return s.enter(args[0], args[1:])
		},
	}
	c.Flags().StringVar(&run, "run", "", "enter a fabric of the run `NAME`, or whose name begins with it")
	completeFlag(c, "run", completeRun)
	c.Flags().SetInterspersed(false) // what comes after NODE is the command's
	return c
}

// completeNode completes the name of a node of the run that --run names, and then
// names of files for the command.
func completeNode(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	s, err := chooseRun(c.Flag("run").Value.String(), io.Discard)
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	return starting(s.nodeNames(), begun), cobra.ShellCompDirectiveNoFileComp
}

// completeRun completes the name of a run whose fabric is up.
func completeRun(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, err := states()
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	return starting(runNames(list.live), begun), cobra.ShellCompDirectiveNoFileComp
}

// chooseRun finds a live run by its name, or else the newest whose name begins so. What
// could not be read is named on warnings.
func chooseRun(name string, warnings io.Writer) (*State, error) {
	list, err := states()
	if err != nil {
		return nil, err
	}
	list.warn(warnings)
	is := slices.IndexFunc(list.live, func(s State) bool { return s.Run == name })
	if is < 0 {
		is = slices.IndexFunc(list.live, func(s State) bool { return strings.HasPrefix(s.Run, name) })
	}
	if is >= 0 {
		return &list.live[is], nil
	}
	if len(list.live) == 0 {
		return nil, errors.New("no fabric of this user is up: start one with sirdbed up, or with sirdbed run, and " +
			"use exec while it runs (--hold keeps it up); for one of root's, use exec with sudo")
	}
	return nil, badInput(fmt.Errorf("no run is called %q: there are %s", name,
		strings.Join(runNames(list.live), ", ")))
}

// nodeNames lists the nodes that can be entered.
func (s *State) nodeNames() (names []string) {
	for _, n := range s.Nodes {
		if !n.Device {
			names = append(names, n.Name)
		}
	}
	return names
}

// enter replaces this process with a command inside a node.
func (s *State) enter(node string, command []string) error {
	i := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return n.Name == node })
	if i < 0 {
		return badInput(fmt.Errorf("%s has no host or switch %q: it has %s", s.Run, node,
			strings.Join(s.nodeNames(), ", ")))
	}
	if s.Nodes[i].Device {
		return badInput(fmt.Errorf("%s is a device: programs there are started at the other end of its cable", node))
	}
	if len(command) == 0 && s.Socket != "" {
		return badInput(fmt.Errorf("%s is in a guest, where a shell has no terminal: name a command", s.Run))
	}
	if len(command) == 0 {
		command = []string{shell()}
	}
	if s.Socket != "" {
		return s.ask(node, command)
	}
	pid, err := localPID(s.PIDNamespace, s.Controller)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", node, s.Run, err)
	}
	start := launch.Start{Argv: command}
	if dir, err := os.Getwd(); err == nil {
		start.Dir = dir
	}
	if fabric, err := topo.New(s.Topology); err == nil {
		start.Names = launch.Names(fabric)
	}
	return enterNode(pid, s.Nodes[i], &start)
}

func shell() string {
	if shell := os.Getenv("SHELL"); shell != "" {
		return shell
	}
	return "/bin/sh"
}

// enterNode replaces this process with a program in the namespaces of the process pid,
// which has the node's own open.
func enterNode(pid int, node NodeState, start *launch.Start) error {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return errors.New("exec needs the program nsenter: install util-linux (apt install util-linux)")
	}
	args := []string{"nsenter", "--target", strconv.Itoa(pid), "--preserve-credentials",
		fmt.Sprintf("--net=/proc/%d/fd/%d", pid, node.Namespace)}
	for _, ns := range []struct{ file, flag string }{{"user", "--user"}, {"mnt", "--mount"}, {"pid", "--pid"}} {
		mine, _ := os.Readlink("/proc/self/ns/" + ns.file)
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns.file))
		if err != nil {
			return fmt.Errorf("namespaces of %s: %w (run exec as the user whose fabric it is)", node.Name, err)
		}
		if mine != its { // the user namespace that one is in cannot be entered
			args = append(args, ns.flag)
		}
	}
	// This program goes on inside, as it is now: what its file's name leads to may be
	// another one by then. The copies of the descriptors stay open in nsenter.
	file, err := start.File()
	if err != nil {
		return err
	}
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	const ownFD = launch.StartFD + 1
	if err := keepOpen(int(file.Fd()), int(own.Fd()), launch.StartFD, ownFD); err != nil {
		return err
	}
	args = append(args, "--", fmt.Sprintf("/proc/self/fd/%d", ownFD), launch.Argument)
	env := append(os.Environ(), "SIRDBED_HOST="+node.Name, frame.AddressVar+"="+frame.Address, "PS1="+node.Name+"$ ")
	return fmt.Errorf("nsenter: %w", syscall.Exec(nsenter, args, env))
}

// keepOpen makes descriptors a and b those of the numbers toA and toB, to be inherited.
func keepOpen(a, b, toA, toB int) error {
	const beyond = 10
	var away [2]int
	for i, fd := range []int{a, b} {
		n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, beyond)
		if err != nil {
			return err
		}
		away[i] = n
	}
	return errors.Join(unix.Dup3(away[0], toA, 0), unix.Dup3(away[1], toB, 0))
}

// controlProgram is the process inside a node: see package launch.
func controlProgram() int {
	syscall.CloseOnExec(launch.StartFD + 1)
	code, err := launch.Main()
	fmt.Fprintf(os.Stderr, "sirdbed: %v\n", err)
	if code != 0 {
		return code
	}
	return codeOf(err)
}
