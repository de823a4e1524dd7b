//go:build linux

// Package sandbox is where a run lives: namespaces in which an ordinary user is
// root, and whose processes all end together.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/thread"
)

// A sandbox has namespaces of its own for users (unless the caller is root),
// processes, network, mounts, IPC and host name. Two processes begin it:
//
//	front            any user; waits
//	  supervisor     process 1 inside: SetupInit; reaps orphans
//	    worker       builds fabrics and starts hosts, as root of the sandbox
//
// The supervisor dies with the front's thread that started it (package thread) and
// with the life pipe (life.go), and everything inside dies with the supervisor, as
// Linux kills a PID namespace whose process 1 ends. So a killed run leaves nothing,
// however it is killed.
//
// The supervisor and what it starts are no part of the front's process group: what a
// terminal sends, the front alone gets. It has the worker stop by Interrupt, which is
// not lost on a process that begins just then, as a signal is.

// sandboxVar marks the processes inside: supervisorRole or workerRole.
const sandboxVar = "SIRDBED_SANDBOX"

// keptVar tells them how many files Keep was given. They follow lifeFD.
const keptVar = "SIRDBED_SANDBOX_FILES"

const (
	supervisorRole = "supervisor"
	workerRole     = "worker"
)

// A Sandbox is one as its front sees it.
type Sandbox struct {
	Command *exec.Cmd // of the supervisor; not to be started but by Start
	life    *os.File  // the end of the life pipe that the front alone has
}

// New prepares a sandbox in which this program is started again, with the given
// arguments, this process's environment, and standard output and error. There, main
// must call SetupInit first of all.
func New(argv ...string) (*Sandbox, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	cmd := exec.Command("/proc/self/exe", argv...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), sandboxVar+"="+supervisorRole)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{read} // lifeFD
	cmd.SysProcAttr = Namespaces(os.Geteuid() != 0)
	cmd.SysProcAttr.Setpgid = true
	return &Sandbox{cmd, write}, nil
}

// Keep has the supervisor and the worker keep a file open as long as they live. The
// worker finds it by Kept, in the order of the calls. Call it before Start; the caller
// closes the file after that.
func (s *Sandbox) Keep(file *os.File) {
	s.Command.ExtraFiles = append(s.Command.ExtraFiles, file)
}

// Start starts the sandbox. It ends with this process.
func (s *Sandbox) Start() error {
	kept := len(s.Command.ExtraFiles) - 1
	s.Command.Env = append(s.Command.Env, keptVar+"="+strconv.Itoa(kept))
	err := thread.StartForLife(s.Command)
	s.Command.ExtraFiles[0].Close()
	if err != nil {
		s.life.Close()
	}
	return err
}

// Interrupt asks the worker to stop early, whether or not it has begun: see
// Interrupts.
func (s *Sandbox) Interrupt() { _, _ = s.life.Write([]byte{0}) } // it may have ended

// Wait waits for the sandbox's end. It exits as the worker did, with 128 and the
// number of the signal if one ended that. The error is that of exec.Cmd.Wait.
func (s *Sandbox) Wait() error {
	err := s.Command.Wait()
	s.life.Close()
	return err
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

// worker is set in the worker of a sandbox, which does not pass the mark on.
var worker bool

// InSandbox reports whether this process is the worker of a sandbox, after SetupInit.
func InSandbox() bool { return worker }

// Kept returns the files that Keep was given, in the worker, after SetupInit. The worker
// keeps them open.
func Kept() (fds []int) {
	if !worker {
		return nil
	}
	return keptFDs()
}

func keptFDs() (fds []int) {
	n, err := strconv.Atoi(os.Getenv(keptVar))
	for i := 1; err == nil && i <= min(n, maxKept); i++ {
		fds = append(fds, lifeFD+i)
	}
	return fds
}

// maxKept is more than anybody keeps.
const maxKept = 8

// SetupInit makes a sandbox out of its namespaces. Outside a sandbox it does
// nothing. As its process 1 it mounts a /proc of its own, brings lo up, starts
// this program again as the worker, reaps orphans, and exits as the worker did:
// it returns only on failure. In the worker it returns at once. The error of a
// process that is neither, though its environment says so, matches emu.ErrInner.
func SetupInit() error {
	role := os.Getenv(sandboxVar)
	if role == "" {
		return nil
	}
	pid, parent := os.Getpid(), os.Getppid()
	supervisor := role == supervisorRole && pid == 1 && parent == 0
	worker = role == workerRole && parent == 1 && haveLife()
	if !worker && !(supervisor && haveLife()) {
		return fmt.Errorf("process %d, of parent %d, has %s=%s in its environment: unset it (%w)", pid, parent,
			sandboxVar, role, emu.ErrInner)
	}
	for _, fd := range keptFDs() {
		unix.CloseOnExec(fd)
	}
	if worker {
		return os.Unsetenv(sandboxVar)
	}
	endWithFront()
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
