//go:build linux

// Package sandbox is where a run lives: namespaces in which an ordinary user is
// root, and whose processes all end together.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A sandbox has namespaces of its own for users (unless the caller is root),
// processes, network, mounts, IPC and host name. Two processes begin it:
//
//	front            any user; waits
//	  supervisor     process 1 inside: SetupInit; reaps orphans
//	    worker       builds fabrics and starts hosts, as root of the sandbox
//
// The supervisor dies with the front's thread that started it (package thread),
// and everything inside dies with the supervisor, as Linux kills a PID namespace
// whose process 1 ends. So a killed run leaves nothing, however it is killed.

// sandboxVar marks the processes inside: "supervisor" or "worker".
const sandboxVar = "SIRDBED_SANDBOX"

// EnterCommand prepares this program to be started again in a sandbox, with the
// given arguments, this process's environment, and standard output and error.
// Start it with thread.StartForLife. There, main must call SetupInit first of all.
func EnterCommand(argv ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", argv...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), sandboxVar+"=supervisor")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = Namespaces(os.Geteuid() != 0)
	return cmd
}

// Namespaces are those that a sandbox takes, and that its processes end with the
// thread that starts it. user adds one for users, in which the caller is root.
func Namespaces(user bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if user {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// InSandbox reports whether this process was started by EnterCommand.
func InSandbox() bool { return os.Getenv(sandboxVar) != "" }

// SetupInit makes a sandbox out of its namespaces. Outside a sandbox it does
// nothing. As its process 1 it mounts a /proc of its own, brings lo up, starts
// this program again as the worker, reaps orphans, and exits as the worker did:
// it returns only on failure. In the worker it returns at once.
func SetupInit() error {
	if os.Getenv(sandboxVar) != "supervisor" {
		return nil
	}
	if os.Getpid() != 1 {
		return fmt.Errorf(
			"sandbox: %s=supervisor in the environment of process %d: only process 1 of a sandbox may have it",
			sandboxVar, os.Getpid())
	}
	if err := privateMounts(); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	status, err := supervise()
	if err != nil {
		return err
	}
	os.Exit(status)
	return nil
}

// exitStatus is what a shell makes of a wait status.
func exitStatus(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// isPermission reports whether an error is a refusal, not a failure.
func isPermission(err error) bool { return errors.Is(err, os.ErrPermission) }
