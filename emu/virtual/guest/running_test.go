//go:build linux

package guest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// ended is how a process ends that does what a shell script says.
func ended(t *testing.T, script string) error {
	t.Helper()
	return exec.Command("/bin/sh", "-c", script).Run()
}

// How a guest ended is told by its console if it can be, by its process
// otherwise, with what to do about it.
func TestOutcome(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		lines  string
		wait   error
		killed string
		exit   int
		err    []string // parts of it; nil: none
		not    string   // is no part of it
	}{
		{name: "well", lines: "hello\n#guest exit 7", exit: 7},
		{name: "well, though the kernel did not", lines: "#guest exit 0", wait: ended(t, "kill -9 $$")},
		{name: "panic", lines: "Warning: tempdir /tmp/x is not on tmpfs\nall is well\n<0>Kernel panic - not syncing: " +
			"VFS\nCall Trace:", wait: ended(t, "kill -ABRT $$"),
			err: []string{"the guest died: Kernel panic - not syncing: VFS; its last lines:\n  all is well\n  Call " +
				"Trace:"}, not: "tmpfs"},
		{name: "first cause", lines: "Out of memory: Killed process 3\nKernel panic - not syncing",
			err: []string{"the guest died: Out of memory: Killed process 3"}},
		{name: "crossing", lines: "Kernel panic - not syncing: crossing: no room for what guest 0 sends to guest 1",
			err: []string{"the guest died: Kernel panic", "guest 0 sends to guest 1\nguests sent more", "--guests 1"}},
		{name: "memory", lines: "Bus error - the host /dev/shm or /tmp mount likely just ran out of space",
			wait: ended(t, "exit 1"),
			err:  []string{"no room is left for its memory in /proc: free some there, or set TMPDIR"},
			not:  "last lines"},
		{name: "killed", lines: "busy", wait: ended(t, "kill -9 $$"),
			err: []string{"the guest's kernel ended: signal: killed (by somebody, or by this machine " +
				"for want of memory", "  busy"}},
		{name: "exit", wait: ended(t, "exit 3"), not: "last lines",
			err: []string{"the guest's kernel, a/linux, ended before its first line: exit status 3"}},
		{name: "off", lines: "bye",
			err: []string{"switched itself off before the command ended; its last lines:\n  bye"}},
		{name: "given up", lines: "busy\n#reached 17", killed: "the guest showed no sign of progress for 9 s",
			wait: ended(t, "kill -9 $$"),
			err:  []string{"no sign of progress for 9 s; its last lines:\n  busy"}, not: "#reached"},
		{name: "canceled", ctx: canceled, killed: "context canceled", wait: ended(t, "kill -9 $$"),
			err: []string{"context canceled"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			r := &running{config: &Config{KernelName: "a/linux"}, dir: &ownDir{parent: parentDir(t, "/proc")},
				exit: -1, killed: c.killed}
			r.read(strings.NewReader(strings.ReplaceAll(c.lines, "\n", "\r\n")))
			exit, err := r.outcome(ctx, c.wait)
			if (err == nil) != (c.err == nil) || exit != c.exit {
				t.Errorf("got exit code %d, %v; want %d, %q", exit, err, c.exit, c.err)
				return
			}
			for _, part := range c.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %q", part, err)
				}
			}
			if c.not != "" && strings.Contains(err.Error(), c.not) {
				t.Errorf("the error has %q, want it without: %v", c.not, err)
			}
			if c.ctx != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
	}
}

// The last lines are kept, and everything but the exit code is passed on.
func TestLinesAreKeptAndPassedOn(t *testing.T) {
	var passed []string
	r := &running{config: &Config{Line: func(line string) { passed = append(passed, line) }}, exit: -1}
	text := strings.Repeat("line\n", 100) + "#reached 5\nlast\n\n#guest exit 3\n"
	r.read(strings.NewReader(text))
	if len(r.lines) != lastLines || r.lines[lastLines-1] != "last" || r.exit != 3 {
		t.Errorf("%d lines, exit code %d; want %d with the last, and 3", len(r.lines), r.exit, lastLines)
	}
	if len(passed) != 102 || !slices.Equal(passed[100:], []string{"#reached 5", "last"}) {
		t.Errorf("%d lines passed on, want 102; the last is %q", len(passed), passed[len(passed)-1])
	}
}

// A stall is time in which the guest writes nothing although it could.
func TestStallIsTimeThatTheGuestHad(t *testing.T) {
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	queued, held := time.Duration(0), false
	waited := func() time.Duration { return queued }
	w := watchdog{looked: start}
	look := func(now, output float64, want time.Duration) {
		t.Helper()
		if got := w.look(at(now), at(output), waited, held); got != want {
			t.Errorf("at %v s it has lasted %v, not %v", now, got, want)
		}
	}
	look(1, 0.5, 0)
	look(2, 0.5, time.Second)
	look(3, 0.5, 2*time.Second)
	look(4, 3.5, 0) // it has written
	look(5, 3.5, time.Second)
	look(900, 3.5, 3*time.Second) // this process was stopped for a quarter of an hour
	queued = 600 * time.Millisecond
	look(901, 3.5, 3400*time.Millisecond) // the machine was busy
	queued = 60 * time.Second
	look(902, 3.5, 3400*time.Millisecond) // very
	look(903, 3.5, 4400*time.Millisecond)
	held = true
	look(904, 3.5, 4400*time.Millisecond) // it waits for another guest
	held = false
	look(905, 3.5, 5400*time.Millisecond)
}

// This process has waited for a processor, as every process has.
func TestWaitsForAProcessorAreCounted(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip(err)
	}
	if w := waited(os.Getpid()); w <= 0 {
		t.Errorf("waited %v, want some time", w)
	}
	if w := waited(1 << 30); w != 0 {
		t.Errorf("nobody has waited %v, want 0", w)
	}
}
