//go:build !portable

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/sandbox"
)

// errNoSandbox is wrapped by the error of a sandbox that could not be entered.
var errNoSandbox = errors.New("no sandbox")

// enterSandbox runs this command line again in a sandbox, unless it is in one. Devices
// that its experiments take are afterwards what they were. afterDeath is what to do where it is
// killed.
func enterSandbox(
	ctx context.Context, experiments []emu.Experiment, show showing, peers joining, afterDeath string,
) (done bool, err error) {
	if sandbox.InSandbox() {
		return false, nil
	}
	guard, err := guardDevices(experiments, peers)
	if err != nil {
		return true, err
	}
	err = viewed(show, func(stdin *os.File) error { return inSandbox(ctx, guard, stdin, afterDeath) })
	if e := guard.end(); e != nil {
		fmt.Fprintf(os.Stderr, "sirdbed: %v\n", e)
		err = cmp.Or[error](err, &codedError{exitFailed, errReported})
	}
	return true, err
}

// viewed does a run, with the viewer beside it that is to show it, if any is. The run
// takes the file as its standard input, and closes it.
func viewed(show showing, run func(stdin *os.File) error) error {
	if !show.any() {
		return run(nil)
	}
	viewer, stdin, err := frontViewer()
	if err != nil {
		return err
	}
	defer endViewer(viewer)
	return run(stdin)
}

// inSandbox runs this command line again in a sandbox, where it may build
// fabrics, and waits for it. Nothing in there outlives this process. The error
// carries the exit code; its message has been written already. guard is nil for one that
// takes no devices. stdin, nil for none, is its standard input, which inSandbox closes here.
func inSandbox(ctx context.Context, guard *deviceGuard, stdin *os.File, afterDeath string) error {
	os.Setenv(runtimeDirVar, runtimeDir())
	box, err := sandbox.New(os.Args[1:]...)
	if err == nil {
		guard.keep(box)
		if stdin != nil {
			box.Command.Stdin = stdin
		}
		err = box.Start()
	}
	stdin.Close()
	if err != nil {
		return explainSandbox(err)
	}
	stop := context.AfterFunc(ctx, box.Interrupt)
	defer stop()
	err = box.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status := exit.Sys().(syscall.WaitStatus)
		code := status.ExitStatus()
		if status.Signaled() {
			code = 128 + int(status.Signal())
		}
		if code > 128 && code != exitStopped && code != exitPipe { // killed before it could write anything
			return fmt.Errorf("the run was killed by a signal: %v%s", syscall.Signal(code-128), afterDeath)
		}
		return &codedError{code, errReported}
	}
	return err
}

// limitAdvice is what to do where a sandbox would take more than there may be. No
// feature is missing then, and probes would mislead.
var limitAdvice = map[syscall.Errno]string{
	syscall.EMFILE: "raise the limit of open files as root, with ulimit -n 1024 in the shell that starts sirdbed",
	syscall.ENFILE: "the machine has as many files open as it may: raise that as root, with sysctl fs.file-max",
	syscall.EAGAIN: "raise the limit of processes: ulimit -u, or pids.max of the cgroup",
}

// explainLimit is the error of a sandbox that did not start for a limit, with what to do,
// nil if there was none.
func explainLimit(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && limitAdvice[errno] != "" {
		return fmt.Errorf("starting the sandbox: %w: %s", err, limitAdvice[errno])
	}
	return nil
}

// explainSandbox is the error of a sandbox that did not start, with what to do.
func explainSandbox(err error) error {
	if e := explainLimit(err); e != nil {
		return e
	}
	f := fabric.Probe(fabric.FeatureUserNS)
	if os.Geteuid() == 0 || f.Err == nil {
		return fmt.Errorf("%w: %w (in a container: run it with --privileged)", errNoSandbox, err)
	}
	const ways = "Run it with sudo, allow user namespaces, or use --engine model. sirdbed doctor has the details"
	return fmt.Errorf("%w for an ordinary user: %w\n%s", errNoSandbox, f.Err, ways)
}
