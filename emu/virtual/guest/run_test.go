//go:build linux

package guest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// runScript runs a shell script as a guest's kernel, and checks that no scratch
// directory is left.
func runScript(t *testing.T, ctx context.Context, c Config, script string) (int, error) {
	t.Helper()
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	c.Kernel = filepath.Join(t.TempDir(), "linux")
	if err := os.WriteFile(c.Kernel, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Argv, c.Memory, c.Show = []string{"command"}, 16<<20, []string{"/"} // a shell has many files
	exit, err := Run(ctx, c)
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v, want nothing", left)
	}
	return exit, err
}

// A guest's lines are passed on, and its exit code is the command's.
func TestRun(t *testing.T) {
	var lines []string
	c := Config{Input: []byte("do it"), Line: func(s string) { lines = append(lines, s) }}
	exit, err := runScript(t, t.Context(), c,
		`cat .guest/input; echo; echo "$@"; echo "#guest exit 7"; exit 1`)
	if exit != 7 || err != nil {
		t.Errorf("got exit code %d, %v; want 7", exit, err)
	}
	if len(lines) != 2 || lines[0] != "do it" || !strings.Contains(lines[1], "mem=16M ") ||
		!strings.Contains(lines[1], "time-travel=inf-cpu") ||
		!strings.HasSuffix(lines[1], "init=/init -- guest-init") {
		t.Errorf("got %q, want the input and the kernel's command line", lines)
	}
}

// A guest that makes no progress, or whose context ends, is killed with all that
// it has started.
func TestGuestsAreKilled(t *testing.T) {
	const hang = `sleep 600 & echo $! >PIDFILE; echo busy; wait`
	for _, c := range []struct {
		name   string
		stall  time.Duration
		cancel bool
		want   string
	}{
		{"without progress", 50 * time.Millisecond, false, "no sign of progress"},
		{"by its context", 0, true, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			_, err := runScript(t, ctx, Config{StallTimeout: c.stall, Line: func(string) {
				if c.cancel {
					cancel()
				}
			}}, strings.ReplaceAll(hang, "PIDFILE", pidFile))
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, context.Canceled) != c.cancel {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			pid, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			program := "/proc/" + strings.TrimSpace(string(pid)) + "/exe" // which a dead process has not
			for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
				if _, err := os.Readlink(program); err != nil {
					break
				}
				if time.Now().After(until) {
					t.Fatal("what the guest has started still runs")
				}
			}
		})
	}
}

// A guest that is asked to stop finds that out, and ends as it wants.
func TestGuestStops(t *testing.T) {
	stop := make(chan struct{})
	exit, err := runScript(t, t.Context(), Config{Stop: stop, Line: func(string) { close(stop) }},
		`echo busy; until [ -e .guest/stop ]; do sleep 0.01; done; echo "#guest exit 4"`)
	if exit != 4 || err != nil {
		t.Errorf("got exit code %d, %v; want 4", exit, err)
	}
}

// A kernel that cannot be started leaves nothing either.
func TestKernelThatDoesNotStart(t *testing.T) {
	for name, text := range map[string]string{"no program": "text", "no interpreter": "#!/nowhere\n"} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			t.Setenv("TMPDIR", parent)
			kernel := filepath.Join(t.TempDir(), "linux")
			if err := os.WriteFile(kernel, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := Run(t.Context(), Config{Kernel: kernel, Argv: []string{"command"}, Memory: 16 << 20})
			if err == nil || !strings.Contains(err.Error(), "starting the guest's kernel, "+kernel) {
				t.Errorf("got %v, want that it does not start", err)
			}
			if left, _ := os.ReadDir(parent); len(left) > 0 {
				t.Errorf("left: %v, want nothing", left)
			}
		})
	}
	for script, want := range map[string]string{
		"exit 0":            "the guest's kernel, that of a test, ended before its first line",
		"exit 3":            "the guest's kernel, that of a test, ended before its first line: exit status 3",
		"echo up":           "the guest switched itself off",
		"echo up; exit 3":   "the guest's kernel ended: exit status 3",
		"echo; kill -9 $$;": "ended before its first line: signal: killed (by somebody",
	} {
		_, err := runScript(t, t.Context(), Config{KernelName: "that of a test"}, script)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
	}
}

// A guest whose loader lacks a library ends with a word on programs that need none.
func TestGuestWithoutALibrary(t *testing.T) {
	for _, said := range []string{"/init: error while loading shared libraries: libx.so: cannot open",
		"Error loading shared library libx.so: No such file (needed by /init)"} {
		_, err := runScript(t, t.Context(), Config{},
			`echo "`+said+`"; echo "Kernel panic - not syncing: Attempted to kill init!"; exit 1`)
		if err == nil || !strings.Contains(err.Error(), said) || !strings.HasSuffix(err.Error(), staticRemedy) {
			t.Errorf("got %v, want %q, and %q at the end", err, said, staticRemedy)
		}
	}
}

// The kernel's command line is the same for every run, but for the memory: the
// kernel stirs it into its random numbers.
func TestCommandLineIsTheSame(t *testing.T) {
	one := &running{config: &Config{Memory: 1 << 30, Argv: []string{"a"}}}
	two := &running{config: &Config{Memory: 1 << 30, Argv: []string{"b"}, Input: []byte("x")}}
	a, b := one.arguments(), two.arguments()
	if !slices.Equal(a, b) {
		t.Errorf("got %q and %q, want the same", a, b)
	}
	shared := &running{config: &Config{Memory: 1 << 30, Crossing: os.Stdin, Number: 3}}
	if c := shared.arguments(); !slices.Contains(c, "crossing=4,3") || len(c) != len(a)+1 {
		t.Errorf("guest 3 of several: got %q, want one argument more than %q", c, a)
	}
}
