//go:build linux

package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sirdbed/emu/rlimit"
	"sirdbed/emu/thread"

	"golang.org/x/sys/unix"
)

// A DeathError says how a guest ended that should not have.
type DeathError struct {
	How    string   // "the guest's kernel panicked: ..."
	Last   []string // lines of its console
	Remedy string   // what to do, if that is known
}

func (e *DeathError) Error() string {
	text := e.How
	if len(e.Last) > 0 {
		text += "; its last lines:\n  " + strings.Join(e.Last, "\n  ")
	}
	if e.Remedy != "" {
		text += "\n" + e.Remedy
	}
	return text
}

// exitMark begins the line with which Init reports the command's exit code.
const exitMark = "#guest exit "

// harmless are messages of the kernel that mean nothing here: its memory is on a disk,
// where nothing of it is written before the machine itself is short of memory; and it
// may not open a terminal, see confine.go.
var harmless = []string{"is not on tmpfs", "check_one_sigio failed"}

// lastLines is how many lines of the console an error shows: the trace of a kernel
// that panicked has up to 30.
const lastLines = 40

// running is a guest that runs.
type running struct {
	config *Config
	dir    *ownDir

	mu     sync.Mutex
	output time.Time // when the guest last wrote to its console
	spoke  bool      // whether it has written anything
	lines  []string  // the last ones
	exit   int       // -1 until it is known
	cause  string    // the line that explains a death
	remedy string    // what to do about it
	killed string    // why the guest was killed, "" if it was not
}

// wait starts the kernel and waits for its end.
func (r *running) wait(ctx context.Context, cmd *exec.Cmd, cpu *cpuClaim, confine func() error) (int, error) {
	// The console's input: never anything, but open.
	stdin, open, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer open.Close()
	defer stdin.Close()
	out, console, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, console, console
	r.output = time.Now()
	starter := thread.New() // the kernel ends with it
	defer starter.Close()
	err = starter.Do(func() error {
		if err := confine(); err != nil {
			return err
		}
		return cmd.Start()
	})
	console.Close()
	if err != nil {
		return 0, fmt.Errorf("starting the guest's kernel, %s: %w", r.config.KernelName, err)
	}
	cpu.pin(cmd.Process.Pid)
	// A panic aborts: no core dump of the guest's memory.
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	rlimit.Raise(cmd.Process.Pid)
	if r.config.Commands != nil {
		r.config.Commands.started(cmd.Process.Pid)
	}
	if r.config.Started != nil {
		r.config.Started(cmd.Process.Pid)
	}

	quit := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { r.read(out) })
	beside.Go(func() { r.watch(ctx, cmd, quit) })
	if runtime.NumCPU() > 1 {
		beside.Go(func() { prefault(cmd.Process.Pid, r.config.Memory, quit) })
	}
	err = cmd.Wait()
	close(quit)
	beside.Wait()
	return r.outcome(ctx, err)
}

// logLevel begins each line of a kernel that dies before it has a console.
var logLevel = regexp.MustCompile(`^<[0-7]>`)

// read takes the console's lines until nobody has it open any more.
func (r *running) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if line = logLevel.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""); line != "" {
			r.take(line)
		}
		if err != nil {
			return
		}
	}
}

func (r *running) take(line string) {
	r.mu.Lock()
	r.spoke = true
	r.mu.Unlock()
	if slices.ContainsFunc(harmless, func(text string) bool { return strings.Contains(line, text) }) {
		return
	}
	r.mu.Lock()
	r.output = time.Now()
	isExit := false
	if code, ok := strings.CutPrefix(line, exitMark); ok {
		if n, err := strconv.Atoi(code); err == nil {
			r.exit, isExit = n, true
		}
	} else {
		r.diagnose(line)
		if !strings.HasPrefix(line, "#") {
			r.lines = append(r.lines, line)
			if len(r.lines) > lastLines {
				r.lines = r.lines[1:]
			}
		}
	}
	r.mu.Unlock()
	if done, ok := strings.CutPrefix(line, idleMark); ok && r.config.Commands != nil {
		r.config.Commands.idle(done)
		return
	}
	if !isExit && r.config.Line != nil {
		r.config.Line(line)
	}
}

// busError is the kernel's message when it touches memory that its file has no
// room for.
const busError = "Bus error"

// loaderErrors are how loaders begin to say that they lack a library: glibc's and musl's.
var loaderErrors = []string{"error while loading shared libraries", "Error loading shared library"}

// crossingFull is the kernel's message when it sends more to another guest than their memory
// has room for: see emu/virtual/crossing.
const crossingFull = "crossing: no room"

// diagnose keeps the first line that explains a death, and what to do.
func (r *running) diagnose(line string) {
	if strings.Contains(line, crossingFull) {
		r.remedy = "guests sent more to one another than was reckoned with, which is a mistake of sirdbed's: " +
			"run it by one guest (--guests 1), and report this with the scenario"
	}
	if slices.ContainsFunc(loaderErrors, func(text string) bool { return strings.Contains(line, text) }) {
		r.remedy = staticRemedy
	}
	if r.cause != "" {
		return
	}
	for _, sign := range []string{"Kernel panic", "Out of memory: Killed", busError, "out of memory"} {
		if strings.Contains(line, sign) {
			r.cause = strings.TrimSpace(line)
		}
	}
}

// watch asks the guest to stop, or ends it, when that is due.
func (r *running) watch(ctx context.Context, cmd *exec.Cmd, quit <-chan struct{}) {
	stop := r.config.Stop
	var grace <-chan time.Time
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	dog := watchdog{looked: time.Now()}
	var spin spinWatch
	for {
		select {
		case <-quit:
			return
		case <-stop:
			stop = nil
			if err := r.dir.root.WriteFile(stopFile, nil, 0o600); err != nil {
				r.kill(cmd, fmt.Sprintf("the guest could not be asked to stop: %v", err))
				continue
			}
			grace = time.After(StopGrace)
		case <-grace:
			r.kill(cmd, fmt.Sprintf("the guest did not stop within %v", StopGrace))
		case <-ctx.Done():
			r.kill(cmd, ctx.Err().Error())
			ctx = context.WithoutCancel(ctx)
		case <-tick.C:
			r.mu.Lock()
			output := r.output
			r.mu.Unlock()
			if r.config.SpinLimit > 0 && !r.config.Commands.isStopped() {
				if pid := spin.look(cmd.Process.Pid, output, r.config.SpinLimit); pid != 0 {
					r.endSpinning(pid)
				}
			}
			held := r.config.HeldUp != nil && r.config.HeldUp()
			stall := dog.look(time.Now(), output, func() time.Duration { return waited(cmd.Process.Pid) }, held)
			if limit := r.config.StallTimeout; limit > 0 && stall > limit {
				r.kill(cmd, fmt.Sprintf("the guest showed no sign of progress for %.0f s of wall time",
					stall.Seconds()))
			}
		}
	}
}

// kill ends the kernel; its processes die with it (PTRACE_O_EXITKILL).
func (r *running) kill(cmd *exec.Cmd, why string) {
	r.mu.Lock()
	if r.killed == "" {
		r.killed = why
	}
	r.mu.Unlock()
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // the guest's group
	_ = cmd.Process.Kill()
}

// signalHints are what a user can do about a signal that ended the kernel.
var signalHints = map[unix.Signal]string{
	unix.SIGKILL: " (by somebody, or by this machine for want of memory, which dmesg would show)",
}

// ended says that the kernel has. One that wrote nothing may be no guest's kernel at all.
func (r *running) ended() string {
	if r.spoke {
		return "the guest's kernel ended"
	}
	return fmt.Sprintf("the guest's kernel, %s, ended before its first line", r.config.KernelName)
}

// outcome returns how the guest ended.
func (r *running) outcome(ctx context.Context, wait error) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exit >= 0 && r.killed == "" {
		return r.exit, nil
	}
	e := &DeathError{Last: r.lines, Remedy: r.remedy}
	var exit *exec.ExitError
	switch {
	case r.killed != "" && ctx.Err() != nil:
		return 0, ctx.Err()
	case r.killed != "":
		e.How = r.killed
	case r.cause != "":
		e.How = "the guest died: " + r.cause
		if strings.Contains(r.cause, busError) {
			e.How = fmt.Sprintf("the guest died: no room is left for its memory in %s: "+
				"free some there, or set TMPDIR to another directory", r.dir.parent.Name())
		}
		e.Last = slices.DeleteFunc(e.Last, func(line string) bool { return strings.Contains(line, r.cause) })
	case errors.As(wait, &exit):
		e.How = fmt.Sprintf("%s: %v", r.ended(), exit)
		if s, ok := exit.Sys().(interface{ Signal() unix.Signal }); ok {
			e.How += signalHints[s.Signal()]
		}
	case !r.spoke:
		e.How = r.ended()
	default:
		e.How = "the guest switched itself off before the command ended"
	}
	return 0, e
}
