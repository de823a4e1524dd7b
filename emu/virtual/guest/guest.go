//go:build linux

// Package guest runs a command inside a User-Mode Linux: Linux as an ordinary
// program, whose clock stands still while anything runs and jumps to the next
// timer when everything sleeps (time-travel=inf-cpu).
//
// The guest sees the machine's files through hostfs, with the rights of the user
// who started it. This program is its process 1: it mounts what is missing,
// starts the command, and switches the guest off when that has ended.
//
//	Run            on the machine: starts the kernel, reads its console
//	  linux        the guest's kernel, pinned to one processor
//	    Init       process 1 in the guest: this program
//	      command  as root of the guest
//
// Run and Init agree on a scratch directory: it has the job, the kernel's pid
// files, and, where that has no file system of its own, the guest's memory
// (unlinked). It is removed at the end, by a cleaner if Run is killed.
package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Config is what to run in a guest. Kernel and Argv are mandatory.
type Config struct {
	Kernel string   // the guest's kernel, see emu/virtual/kernel
	Argv   []string // the command; "/proc/self/exe" as the first is this program
	Env    []string // of the command
	Dir    string   // where it starts; "" is the root
	Input  []byte   // what function Input returns to the command; nil: nothing
	// Memory is what the guest may use, in bytes; 0 means 1 GiB. It costs only
	// what is touched.
	Memory int64
	// Line, when set, is called with each line that the command (or the kernel)
	// writes to the console. It must not block.
	Line func(string)
	// StallTimeout is how long, by the wall clock, the guest may write nothing
	// before it is killed; 0 means for ever. Time in which the machine was too busy
	// to run the guest does not count.
	StallTimeout time.Duration
	// Start starts the kernel's process, which ends with the thread that started
	// it. nil means thread.StartForLife.
	Start func(*exec.Cmd) error
	// Stop, when it ends, asks the command to stop: see Stopping. A guest that
	// then does not end within StopGrace is killed.
	Stop <-chan struct{}
}

// StopGrace is how long a guest may take to stop, by the wall clock.
const StopGrace = 30 * time.Second

// startTime is the guest's date at boot, in ns since 1970.
const startTime = 1_700_000_000_000_000_000

// A Job is what Init finds in the scratch directory.
type Job struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// Files of the scratch directory.
const (
	jobFile   = "job.json"
	inputFile = "input"
	initFile  = "init"
	stopFile  = "stop"
)

// DirVar is the environment variable with the scratch directory, for the command
// in a guest.
const DirVar = "SIRDBED_GUEST"

// Run runs a command in a guest until it ends and returns its exit code. When
// ctx ends the guest is killed. A guest that ends in any other way than by the
// command's end is a *DeathError.
func Run(ctx context.Context, c Config) (exit int, err error) {
	c.Memory = cmp.Or(c.Memory, 1<<30)
	s, err := newScratch(c.Memory)
	if err != nil {
		return 0, err
	}
	defer s.close()
	dir := s.dir
	lock, err := lockDir(dir)
	if err != nil {
		return 0, err
	}
	cleaner, err := startCleaner(dir)
	if err != nil {
		lock.Close()
		return 0, err
	}
	defer cleaner.end()
	defer lock.Close()
	if err := writeJob(dir, &c); err != nil {
		return 0, err
	}
	cpu := claimCPU()
	defer cpu.release()
	run := &running{config: &c, dir: dir, exit: -1}
	cmd := exec.Command(c.Kernel, run.arguments()...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.configure(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return run.wait(ctx, cmd, cpu)
}

// seenDir is the scratch directory as the guest sees it at first: the kernel's
// own working directory, by way of the machine's /proc. The command line must be
// the same for every run: the kernel stirs it into its random numbers.
const seenDir = "/proc/self/cwd"

// arguments are the kernel's command line.
func (r *running) arguments() []string {
	return []string{
		fmt.Sprintf("mem=%dM", r.config.Memory>>20),
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw",
		"con=null", "con0=fd:0,fd:1", "quiet",
		"time-travel=inf-cpu", fmt.Sprintf("time-travel-start=%d", int64(startTime)),
		"umid=guest",
		"init=" + seenDir + "/" + initFile, "--", initArgument, seenDir,
	}
}

// initArgument is the first argument with which this program is started as the
// guest's process 1.
const initArgument = "guest-init"

func writeJob(dir string, c *Config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argv := append([]string(nil), c.Argv...)
	if argv[0] == "/proc/self/exe" {
		argv[0] = self
	}
	text, err := json.Marshal(Job{Argv: argv, Env: append(c.Env, DirVar+"="+boundDir), Dir: c.Dir})
	if err != nil {
		return err
	}
	// A link of a known name: the kernel's command line takes no spaces.
	return errors.Join(
		os.WriteFile(filepath.Join(dir, jobFile), text, 0o600),
		os.WriteFile(filepath.Join(dir, inputFile), c.Input, 0o600),
		os.Symlink(self, filepath.Join(dir, initFile)),
	)
}
