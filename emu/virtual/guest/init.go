//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Init is the guest's process 1. dir is the scratch directory. It returns only
// on a failure before the command has run.
func Init(dir string) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is for process 1 of a guest", initArgument)
	}
	code := 127
	root, _ = unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	// Soon /proc is the guest's own.
	dir, err := os.Readlink(dir)
	if err == nil {
		err = prepare(dir)
	}
	if err == nil {
		code, err = perform(boundDir)
	}
	if err != nil {
		fmt.Println(err)
	}
	if err := settleFiles(); err != nil {
		fmt.Println(err)
		code = max(code, 1)
	}
	fmt.Printf("%s%d\n", exitMark, code)
	return unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// prepare mounts what a command expects and the machine's files do not have.
// Nothing of it is seen outside.
func prepare(dir string) error {
	for _, m := range []struct{ what, where, kind string }{
		{"proc", "/proc", "proc"},
		{"sysfs", "/sys", "sysfs"},
		{"tmpfs", "/run", "tmpfs"},
	} {
		if err := unix.Mount(m.what, m.where, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("guest: mount %s at %s: %w", m.kind, m.where, err)
		}
	}
	// The machine's /dev serves here too: its nodes stand for the guest's devices.
	// Not every container has a console in it, so the guest makes its own.
	const path = "/run/console"
	err := unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(5, 1)))
	if err != nil {
		return fmt.Errorf("guest: make the console: %w", err)
	}
	console, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("guest: open the console: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup2(console, fd); err != nil {
			return fmt.Errorf("guest: console: %w", err)
		}
	}
	if err := rawConsole(); err != nil {
		return fmt.Errorf("guest: console: %w", err)
	}
	for _, m := range machineSettings {
		if err := os.WriteFile("/proc/sys/"+m.path, []byte(m.value), 0); err != nil {
			return fmt.Errorf("guest: %w", err)
		}
	}
	// Wherever the scratch directory is, here it has one name.
	if err := os.Mkdir(boundDir, 0o700); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	if err := unix.Mount(dir, boundDir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("guest: bind %s: %w", dir, err)
	}
	// Timers are exact once the kernel has seen a tick of its clock.
	time.Sleep(settle)
	return os.MkdirAll("/run/tmp", 0o777)
}

// root is the machine's file system, opened before anything was written there.
var root = -1

// settleFiles sees to it that what was written is on the machine's disk. Its
// error is about what has not got there since the guest began.
func settleFiles() error {
	unix.Sync()
	if root < 0 {
		return nil
	}
	if err := unix.Syncfs(root); err != nil {
		return fmt.Errorf("guest: what was written did not all get to the machine's disk: %w", err)
	}
	return nil
}

// machineSettings are of the guest as a whole: no backlog drops, large socket
// buffers, no limit (of 16 GiB, in pages) to those of TCP together, and written
// data is on the machine's disk soon, since the kernel may die.
var machineSettings = []struct{ path, value string }{
	{"net/core/netdev_max_backlog", "1000000"},
	{"net/core/wmem_max", "268435456"},
	{"net/core/rmem_max", "268435456"},
	{"net/ipv4/tcp_mem", "4194304 4194304 4194304"},
	{"vm/dirty_expire_centisecs", "20"},
	{"vm/dirty_writeback_centisecs", "20"},
	{"vm/overcommit_memory", "1"},
	{"kernel/pid_max", "65536"},
}

// boundDir is the scratch directory in the guest.
const boundDir = "/run/guest"

// settle is some ticks of 10 ms, in which no real time passes.
const settle = 100 * time.Millisecond

// rawConsole has the console pass on lines as they are.
func rawConsole() error {
	t, err := unix.IoctlGetTermios(1, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(1, unix.TCSETS, t)
}

// perform runs the job's command and reaps whatever ends until that does.
func perform(dir string) (exit int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, jobFile))
	if err != nil {
		return 127, fmt.Errorf("guest: the job: %w", err)
	}
	var job Job
	if err := json.Unmarshal(text, &job); err != nil {
		return 127, fmt.Errorf("guest: the job: %w", err)
	}
	command, err := syscall.ForkExec(job.Argv[0], job.Argv, &syscall.ProcAttr{
		Dir: job.Dir, Env: job.Env, Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return 127, fmt.Errorf("guest: start %s: %w", strings.Join(job.Argv, " "), err)
	}
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 127, fmt.Errorf("guest: wait: %w", err)
		case pid == command && ws.Signaled():
			fmt.Printf("%s was killed: %v\n", job.Argv[0], ws.Signal())
			return 128 + int(ws.Signal()), nil
		case pid == command:
			return ws.ExitStatus(), nil
		}
	}
}

// Inside reports whether this process was started in a guest.
func Inside() bool { return os.Getenv(DirVar) != "" }

// Input returns what Config.Input had for this command.
func Input() ([]byte, error) {
	return os.ReadFile(filepath.Join(os.Getenv(DirVar), inputFile))
}

// Stopping reports whether the command in this guest has been asked to stop. It
// looks at the machine's files: call it now and then.
func Stopping() bool {
	_, err := os.Stat(filepath.Join(os.Getenv(DirVar), stopFile))
	return err == nil
}
