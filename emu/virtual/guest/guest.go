//go:build linux

// Package guest runs a command inside a User-Mode Linux: Linux as an ordinary
// program, whose clock stands still while anything runs and jumps to the next
// timer when everything sleeps (time-travel=inf-cpu).
//
// The guest sees a copy of this program (and of the libraries that it has loaded, if it
// is not static), its scratch directory, and the directories of the machine that Config
// names: nothing else. This program is its process 1: it
// mounts what a command expects, starts the command, and switches the guest off when
// that has ended.
//
//	Run            on the machine: starts the kernel, reads its console
//	  linux        the guest's kernel, pinned to one processor
//	    Init       process 1 in the guest: this program
//	      command  as root of the guest
//
// Run and Init agree on a scratch directory: it has the program, the job, links to the
// directories to show, the kernel's pid files, and, where that has no file system of
// its own, the guest's memory (unlinked). It is removed at the end, by a cleaner.
package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Config is what to run in a guest. Kernel and Argv are mandatory.
type Config struct {
	Kernel     string   // the guest's kernel, see emu/virtual/kernel
	KernelName string   // what errors call it; "" is Kernel
	Argv       []string // the command; "/proc/self/exe" as the first is this program
	Env        []string // of the command
	Dir        string   // where it starts; "" is the root
	Input      []byte   // what function Input returns to the command; nil: nothing
	// Show lists the directories of the machine that the guest sees, under their own
	// names, and may write to as far as this user may. They are absolute; "/" is all.
	Show []string
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
	// Commands, when set, are handed to the command in the guest: see NextCommand. They
	// are for this guest alone.
	Commands *Commands
	// SpinLimit is how much processor time the guest may take without writing anything,
	// before the program that took the most of it is ended by SIGSEGV: see Spun. 0: any.
	SpinLimit time.Duration
	// Spun, when set, is called with each such program: its SpinVar, and its file's name.
	Spun func(name, file string)
	// Started, when set, is called with the kernel's process once it runs.
	Started func(pid int)
	// Crossing, when set, is the memory that this guest shares with others whose clock is its
	// own (package crossing), in which it has the number Number. Claims has the processors of
	// all of them.
	Crossing *os.File
	Number   int
	Claims   *Claims
	// HeldUp, when set, reports whether this guest waits for another one of these, which is no
	// stall of its own.
	HeldUp func() bool
	// Traced has the kernel stop its processes by ptrace alone, as it does by itself where
	// this machine's kernel does not tell it of their system calls.
	Traced bool
	// Stop, when it ends, asks the command to stop: see Stopping. A guest that
	// then does not end within StopGrace is killed.
	Stop <-chan struct{}
}

// StopGrace is how long a guest may take to stop, by the wall clock.
const StopGrace = 30 * time.Second

// Descriptors is how many files a guest's kernel, or Run, has open besides those that
// the guest's processes have.
const Descriptors = 40

// startTime is the guest's date at boot, in ns since 1970.
const startTime = 1_700_000_000_000_000_000

// A Job is what Init finds in the scratch directory.
type Job struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	Show []string `json:"show"` // directory i is behind link i of showDir
	// Libraries are files of the scratch directory that the program needs at their names.
	Libraries []string `json:"libraries,omitempty"`
}

// Files of the scratch directory. It has libraries at their names too, so whatever can be
// elsewhere is in a directory of the guest's own.
const (
	initFile = "init" // this program: the kernel's command line names it
	umlDir   = ".uml" // the kernel's pid files

	guestDir  = ".guest"
	jobFile   = guestDir + "/job.json"
	inputFile = guestDir + "/input"
	stopFile  = guestDir + "/stop"
	showDir   = guestDir + "/show" // links to what the guest sees
	rootDir   = guestDir + "/root" // where the guest makes its root
)

// DirVar is the environment variable with the scratch directory, for the command
// in a guest.
const DirVar = "SIRDBED_GUEST"

// Run runs a command in a guest until it ends and returns its exit code. When
// ctx ends the guest is killed. A guest that ends in any other way than by the
// command's end is a *DeathError.
func Run(ctx context.Context, c Config) (exit int, err error) {
	c.Memory = cmp.Or(c.Memory, 1<<30)
	c.KernelName = cmp.Or(c.KernelName, c.Kernel)
	kernel, err := os.Open(c.Kernel)
	if err != nil {
		return 0, fmt.Errorf("the guest's kernel: %w", err)
	}
	defer kernel.Close()
	s, err := newScratch(c.Memory)
	if err != nil {
		return 0, err
	}
	defer s.close()
	cleaner, err := startCleaner(s.dir)
	if err != nil {
		return 0, errors.Join(err, s.dir.remove())
	}
	defer cleaner.end()
	if err := fill(s.dir, &c); err != nil {
		return 0, explainRoom(s.dir.parent.Name(), err)
	}
	if c.Commands != nil {
		if err := c.Commands.begin(s.dir); err != nil {
			return 0, err
		}
		defer c.Commands.ended()
	}
	cpu := claim(&c)
	defer cpu.release()
	run := &running{config: &c, dir: s.dir, exit: -1}
	// By descriptor: whatever becomes of the file meanwhile, this one is executed.
	const kernelFD = 3
	cmd := exec.Command(fdPath(kernelFD), run.arguments()...)
	cmd.ExtraFiles = []*os.File{kernel}
	if c.Crossing != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, c.Crossing) // crossingFD
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.configure(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return run.wait(ctx, cmd, cpu, confinement(&c, s, kernel))
}

// seenDir is the scratch directory as the guest's kernel sees it: its own working
// directory. The command line must be the same for every run: the kernel stirs it
// into its random numbers.
const seenDir = "/proc/self/cwd"

// crossingFD is the descriptor of Config.Crossing in the guest's kernel.
const crossingFD = 4

// arguments are the kernel's command line.
func (r *running) arguments() []string {
	var options []string
	if r.config.Crossing != nil {
		options = append(options, fmt.Sprintf("crossing=%d,%d", crossingFD, r.config.Number))
	}
	if r.config.Traced {
		options = append(options, "stubs=ptrace")
	}
	return slices.Concat([]string{
		fmt.Sprintf("mem=%dM", r.config.Memory>>20),
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "hostfs=" + seenDir, "rw",
		"con=null", "con0=fd:0,fd:1", "quiet",
		"time-travel=inf-cpu", fmt.Sprintf("time-travel-start=%d", int64(startTime)),
		"umid=guest",
	}, options, []string{"init=/" + initFile, "--", initArgument})
}

// initArgument is the first argument with which this program is started as the
// guest's process 1.
const initArgument = "guest-init"

// fill writes into a scratch directory what the guest finds there.
func fill(dir *ownDir, c *Config) error {
	argv := append([]string(nil), c.Argv...)
	if argv[0] == "/proc/self/exe" {
		argv[0] = boundDir + "/" + initFile
	}
	libraries, err := copyLibraries(dir)
	if err != nil {
		return err
	}
	if err := dir.root.Mkdir(guestDir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(Job{Argv: argv, Env: append(c.Env, DirVar+"="+boundDir), Dir: c.Dir, Show: c.Show,
		Libraries: libraries})
	if err != nil {
		return err
	}
	err = errors.Join(
		dir.root.WriteFile(jobFile, text, 0o600),
		dir.root.WriteFile(inputFile, c.Input, 0o600),
		dir.root.Mkdir(rootDir, 0o700),
		dir.root.Mkdir(showDir, 0o700),
		dir.root.Mkdir(spunDir, 0o700),
	)
	for i, path := range c.Show {
		// By a link, whose name a mount's options can take.
		err = errors.Join(err, dir.root.Symlink(path, shown(i)))
	}
	return errors.Join(err, copyProgram(dir))
}

// shown is the link to directory i of Config.Show, in the scratch directory.
func shown(i int) string { return fmt.Sprintf("%s/%d", showDir, i) }

// copyProgram copies this program, as it runs: the file that it was started from may
// be another one by now.
func copyProgram(dir *ownDir) error {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer program.Close()
	return copyInto(dir, initFile, program)
}

// copyInto copies a file of the machine's into a scratch directory. Others may copy the
// same one meanwhile: its position stays.
func copyInto(dir *ownDir, name string, from *os.File) error {
	to, err := dir.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, math.MaxInt64))
	return errors.Join(err, to.Close())
}
