//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// privateMounts keeps mounts from spreading out of the sandbox and gives it a
// /proc that shows its own processes. Some containers do not allow the latter;
// the old /proc still knows the calling thread, which is all that fabrics need.
func privateMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("sandbox: make mounts private: %w", err)
	}
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && !isPermission(err) {
		return fmt.Errorf("sandbox: mount /proc: %w", err)
	}
	return nil
}

func loopbackUp() error {
	var b rtnl.Batch
	b.LinkUp(rtnl.Loopback, "lo")
	if err := rtnl.Do(&b); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// supervise starts the worker, hands signals on to it, and reaps whatever ends
// until the worker does. It returns the worker's exit status.
func supervise() (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	if !signal.Ignored(unix.SIGHUP) { // as nohup has it
		signal.Notify(signals, unix.SIGHUP)
	}
	// A terminal may stop (stty tostop) who writes to it from the background.
	signal.Ignore(unix.SIGTTOU)
	if err := os.Setenv(sandboxVar, workerRole); err != nil {
		return 0, err
	}
	// Not os/exec: it would wait for the worker, and so does the loop below,
	// for every child.
	files := []uintptr{0, 1, 2, lifeFD}
	for _, fd := range keptFDs() {
		files = append(files, uintptr(fd))
	}
	worker, err := syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		return 0, fmt.Errorf("sandbox: start the sandbox's worker: %w", err)
	}
	go func() {
		for s := range signals {
			_ = unix.Kill(worker, s.(syscall.Signal)) // it may have ended
		}
	}()
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, fmt.Errorf("sandbox: wait for the sandbox's worker: %w", err)
		case pid == worker:
			return exitStatus(ws), nil
		}
	}
}
