//go:build !portable

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

func newDown() *cobra.Command {
	c := &cobra.Command{
		Use:   "down [NAME]",
		Short: "Take down a fabric that sirdbed up brought up",
		Long: text(`
			Take down the named fabric, or the only one that is up, with all that runs in it, and wait until it is
			gone.`),
		Example: examples(`
			sirdbed down
			sirdbed down incast`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: first(completeFabric),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := states()
			if err != nil {
				return err
			}
			list.warn(c.ErrOrStderr())
			s, err := list.fabric(args)
			if err != nil {
				return err
			}
			if err := s.takeDown(); err != nil {
				return fmt.Errorf("%s: %w", s.Run, err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is down\n", s.Run)
			return err
		},
	}
	return c
}

// completeFabric completes the name of a fabric that up has brought up.
func completeFabric(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, err := states()
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	return starting(runNames(list.up()), ""), cobra.ShellCompDirectiveNoFileComp
}

// up lists the fabrics that sirdbed up has brought up.
func (l *stateList) up() []State {
	return slices.DeleteFunc(slices.Clone(l.live), func(s State) bool { return !s.Up })
}

// fabric is that of the name in args, or the only one.
func (l *stateList) fabric(args []string) (*State, error) {
	up := l.up()
	names := strings.Join(runNames(up), ", ")
	if len(args) == 0 {
		switch len(up) {
		case 0:
			return nil, errors.New("no fabric of this user is up (sirdbed up brings one up; one of root's takes sudo)")
		case 1:
			return &up[0], nil
		}
		return nil, badInput(fmt.Errorf("%d fabrics are up, so name the one to take down: %s", len(up), names))
	}
	if i := slices.IndexFunc(up, func(s State) bool { return s.Run == args[0] }); i >= 0 {
		return &up[i], nil
	}
	if slices.Contains(runNames(l.live), args[0]) {
		return nil, badInput(fmt.Errorf("%s is a run: interrupt it where it was started", args[0]))
	}
	if names == "" {
		return nil, fmt.Errorf("no fabric is called %q, and none is up", args[0])
	}
	return nil, badInput(fmt.Errorf("no fabric is called %q: up are %s", args[0], names))
}

// downGrace is how long a fabric may take to go by itself.
const downGrace = 5 * time.Second

// takeDown ends the fabric and waits until nothing of it is left: first by a word to the
// process that keeps it up, and if that does not listen by the end of all of them.
func (s *State) takeDown() error {
	keepers, _ := s.inhabitants()
	if len(keepers) == 0 {
		return errors.New("its processes are not to be seen: run down as the user whose fabric it is")
	}
	controller, err := localPID(s.PIDNamespace, s.Controller)
	if err != nil {
		return err
	}
	watched, err := watch(keepers)
	if err != nil {
		return err
	}
	defer watched.close()
	if err := unix.Kill(controller, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending its process %d: %w", controller, err)
	}
	if !watched.gone(downGrace) {
		watched.kill()
		if !watched.gone(downGrace) {
			return fmt.Errorf("its processes do not end, although they were killed: %v", keepers)
		}
	}
	// Of a sandbox process 1 is gone now, and the kernel ends the rest.
	for range 500 {
		if s.PIDNamespace == pidNamespace() || len(members(s.PIDNamespace)) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, err = removeDead(s.Run + stateSuffix) // left if its process was killed
	return err
}

// watchedProcesses are descriptors of processes: whatever gets their number later is
// another.
type watchedProcesses []int

func watch(pids []int) (w watchedProcesses, err error) {
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			w.close()
			return nil, os.NewSyscallError("pidfd_open", err)
		}
		w = append(w, fd)
	}
	return w, nil
}

func (w watchedProcesses) close() {
	for _, fd := range w {
		unix.Close(fd)
	}
}

func (w watchedProcesses) kill() {
	for _, fd := range w {
		_ = unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0) // it may have ended
	}
}

// gone waits until all have ended, at most so long, and reports whether they have.
func (w watchedProcesses) gone(most time.Duration) bool {
	until := time.Now().Add(most)
	for _, fd := range w {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for poll[0].Revents == 0 {
			left := time.Until(until).Milliseconds()
			if left <= 0 {
				return false
			}
			if _, err := unix.Poll(poll, int(left)); err != nil && !errors.Is(err, unix.EINTR) {
				return false
			}
		}
	}
	return true
}
