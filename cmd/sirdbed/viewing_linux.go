//go:build !portable

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu/rights"
	"sirdbed/emu/sandbox"
)

// frontViewer starts the viewer outside the sandbox that a run is about to enter, as the
// user who called sudo if one did. The sandbox gets the other end of their socket as its
// standard input.
func frontViewer() (cmd *exec.Cmd, other *os.File, err error) {
	caller, err := rights.SudoCaller()
	if err != nil {
		return nil, nil, err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("live view: %w", err)
	}
	mine, other := os.NewFile(uintptr(ends[0]), "viewer"), os.NewFile(uintptr(ends[1]), "run")
	defer mine.Close()
	cmd = viewerProcess("/proc/self/exe")
	cmd.Stdin, cmd.Stdout = mine, mine
	if caller != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: caller.Credential()}
		cmd.Env = caller.Environment(cmd.Env, func(string) bool { return false })
	}
	if err := cmd.Start(); err != nil {
		other.Close()
		if caller != nil {
			err = fmt.Errorf("%w: under sudo it runs as the user who called that, so put sirdbed where %s may execute "+
				"it, such as in /usr/local/bin", err, caller.Name)
		}
		return nil, nil, fmt.Errorf("live view: %w", err)
	}
	return cmd, other, nil
}

// sandboxViewing is the viewer as a run in a sandbox sees it: by its standard input.
func sandboxViewing() *viewing {
	if !sandbox.InSandbox() {
		return nil
	}
	return newViewing(os.Stdin, os.Stdin, nil)
}

// ignoreTerminalSignals keeps what a terminal sends to all of its processes from ending
// the viewer before the run has ended.
func ignoreTerminalSignals() {
	signal.Ignore(unix.SIGQUIT, unix.SIGHUP, unix.SIGTTOU, unix.SIGPIPE)
}

// giveWay lets all other processes go first, as well as this one may.
func giveWay() {
	const nice = 10
	threads, err := os.ReadDir("/proc/self/task") // niceness is a thread's
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nice)
		}
	}
}
