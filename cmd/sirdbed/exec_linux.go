//go:build !portable

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func newExec() *cobra.Command {
	var run string
	c := &cobra.Command{
		Use:   "exec HOST [COMMAND [ARG...]]",
		Short: "Run a shell or a command inside a host of a running fabric",
		Long: text(`
			Enter the namespaces of a host of a fabric that is up, and run a command there, or a shell if none is
			given. The kernel of host hL-H has the address 10.250.L.H (ping, TCP), and its interface is named after
			its leaf.

			The fabric belongs to a run in another terminal and goes with it: sirdbed run --hold keeps it up. If
			several runs are up, --run chooses one, else the newest is entered.`),
		Example: examples(`
			sirdbed exec h1-3                            a shell in h1-3
			sirdbed exec h1-3 ping -c 3 10.250.1.8       a command
			sirdbed exec h1-3 tc -s qdisc show           its port
			sirdbed exec --run incast-20250101-120000-srpt h1-8 ip -s link`),
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeHost,
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
	c.Flags().SetInterspersed(false) // what comes after HOST is the command's
	return c
}

// completeHost completes the name of a host of the run that --run names, and then
// names of files for the command.
func completeHost(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	s, err := chooseRun(c.Flag("run").Value.String(), io.Discard)
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, h := range s.Hosts {
		names = append(names, h.Name)
	}
	return starting(names, begun), cobra.ShellCompDirectiveNoFileComp
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
		return nil, errors.New("no fabric of this user is up: start one with sirdbed run, and use exec while it runs " +
			"(--hold keeps it up); for a run with sudo, use exec with sudo")
	}
	return nil, badInput(fmt.Errorf("no run is called %q: there are %s", name,
		strings.Join(runNames(list.live), ", ")))
}

// enter replaces this process with a command inside a host.
func (s *State) enter(host string, command []string) error {
	var names []string
	for _, h := range s.Hosts {
		if h.Name != host {
			names = append(names, h.Name)
			continue
		}
		pid, err := localPID(s.PIDNamespace, h.PID)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", host, s.Run, err)
		}
		return enterProcess(pid, host, command)
	}
	return badInput(fmt.Errorf("%s has no host %q: it has %s", s.Run, host, strings.Join(names, ", ")))
}

func enterProcess(pid int, host string, command []string) error {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return errors.New("exec needs the program nsenter: install util-linux (apt install util-linux)")
	}
	args := []string{"nsenter", "--target", strconv.Itoa(pid), "--preserve-credentials"}
	for _, ns := range []struct{ file, flag string }{
		{"user", "--user"}, {"net", "--net"}, {"mnt", "--mount"}, {"pid", "--pid"},
	} {
		mine, _ := os.Readlink("/proc/self/ns/" + ns.file)
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns.file))
		if err != nil {
			return fmt.Errorf("namespaces of %s: %w (run exec as the user who runs the fabric)", host, err)
		}
		if mine != its { // the user namespace that one is in cannot be entered
			args = append(args, ns.flag)
		}
	}
	if len(command) == 0 {
		shell := os.Getenv("SHELL")
		if shell == "" {
			shell = "/bin/sh"
		}
		command = []string{shell}
	}
	args = append(append(args, "--"), command...)
	env := append(os.Environ(), "SIRDBED_HOST="+host, "PS1="+host+"$ ")
	return fmt.Errorf("nsenter: %w", syscall.Exec(nsenter, args, env))
}

// localPID finds the process that has the given PID in a PID namespace below
// this one.
func localPID(namespace string, pid int) (int, error) {
	if namespace == pidNamespace() {
		return pid, nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if its, _ := os.Readlink(dir + "/ns/pid"); its != namespace {
			continue
		}
		status, _ := os.ReadFile(dir + "/status")
		for line := range strings.Lines(string(status)) {
			ids, ok := strings.CutPrefix(line, "NSpid:")
			if fields := strings.Fields(ids); ok && fields[len(fields)-1] == strconv.Itoa(pid) {
				return strconv.Atoi(filepath.Base(dir))
			}
		}
	}
	return 0, fmt.Errorf("its process %d of %s is gone, or belongs to another user", pid, namespace)
}
