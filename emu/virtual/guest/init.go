//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Init is the guest's process 1, in the scratch directory. It returns only on a
// failure before the command has run.
func Init() error {
	if os.Getpid() != 1 || Inside() {
		return fmt.Errorf("%s is for process 1 of a guest", initArgument)
	}
	code := 127
	job, err := readJob()
	if err == nil {
		err = prepare(&job)
	}
	if err == nil {
		code, err = perform(&job)
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

func readJob() (job Job, err error) {
	text, err := os.ReadFile("/" + jobFile)
	if err == nil {
		err = json.Unmarshal(text, &job)
	}
	if err != nil {
		err = fmt.Errorf("guest: the job: %w", err)
	}
	return job, err
}

// prepare makes what a command expects.
func prepare(job *Job) error {
	if err := enterRoot(job.Show, job.Libraries); err != nil {
		return err
	}
	for _, m := range machineSettings {
		if err := os.WriteFile("/proc/sys/"+m.path, []byte(m.value), 0); err != nil {
			return fmt.Errorf("guest: %w", err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxFiles, Max: maxFiles}); err != nil {
		return fmt.Errorf("guest: open files: %w", err)
	}
	// Timers are exact once the kernel has seen a tick of its clock.
	time.Sleep(settle)
	return nil
}

// openConsole makes the console, which not every container has, the standard files. Its
// node, in a directory, is gone then.
func openConsole(dir string) error {
	path := filepath.Join(dir, "console")
	if err := unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(5, 1))); err != nil {
		return err
	}
	console, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup2(console, fd); err != nil {
			return err
		}
	}
	return rawConsole()
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

// maxFiles is how many files a process in a guest may have open: what Linux allows.
const maxFiles = 1 << 20

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
func perform(job *Job) (exit int, err error) {
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
