//go:build linux && !portable

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/cmd/sirdbed/hostfirst"
)

// Whenever the terminal interrupts a run, and on any engine, it ends with 130 and says
// so. Before the program's own code runs Linux ends it: then it has said nothing yet.
func TestInterruptAtAnyMoment(t *testing.T) {
	const telling = 15 // interrupts that a run answers, in steps of 12 ms from its start
	b := build(t)
	before := b.traces()
	for _, engine := range []string{"real", "model"} {
		said := 0
		for after := time.Duration(0); said < telling && after < 3*time.Second; after += 12 * time.Millisecond {
			run := b.command("run", "real.yaml", "--engine", engine, "--set", "duration=60s")
			var stdout, stderr bytes.Buffer
			run.Stdout, run.Stderr = &stdout, &stderr
			run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell has it
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			if err := syscall.Kill(-run.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			err := run.Wait()
			status := run.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() && status.Signal() == syscall.SIGINT && stdout.Len()+stderr.Len() == 0 {
				continue
			}
			if code(err) != exitStopped || !strings.Contains(stderr.String(), "interrupted: ") {
				t.Errorf("%s after %v: %v\n%s", engine, after, err, stderr.String())
			}
			said++
		}
		if said < telling {
			t.Errorf("%s: only %d interrupts came when it could say so, want %d", engine, said, telling)
		}
	}
	b.vanished(before, traces{})
}

// Interrupts are caught before the libraries are initialized that take long.
func TestInterruptsAreCaughtFirst(t *testing.T) {
	b := build(t)
	cmd := b.command("run", "--help")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	before, _, found := strings.Cut(string(out), "init sirdbed/cmd/sirdbed/interruptfirst ")
	if err != nil || !found {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(before, "init net ") || strings.Count(before, "\ninit ") > 40 {
		t.Errorf("before that are initialized:\n%s", before)
	}
}

// Who reads the output of a run may go away, as head does: the run goes on to its end,
// keeps all results, and exits as if by SIGPIPE, without a word.
func TestReaderOfTheOutputGoesAway(t *testing.T) {
	b := build(t)
	for _, engine := range []string{"real", "model"} {
		run := b.command("run", "real.yaml", "--engine", engine, "--out", engine, "--set", "duration=2ms")
		stdout, err := run.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		run.Stderr = &stderr
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		stdout.Close()
		if got := code(run.Wait()); got != exitPipe {
			t.Errorf("%s: exit code %d", engine, got)
		}
		if !strings.HasSuffix(stderr.String(), "analyzing\n") {
			t.Errorf("%s: stderr is\n%s", engine, stderr.String())
		}
		if _, err := results.ReadSummary(filepath.Join(b.dir, engine)); err != nil {
			t.Error(err)
		}
	}
	b.gone()
}

// The commands with which sirdbed starts itself do nothing when somebody else does.
func TestInnerCommandsAreForSirdbed(t *testing.T) {
	b := build(t)
	if err := os.Mkdir(filepath.Join(b.dir, "precious"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.write("precious/file", "text")
	for _, c := range []struct {
		args []string
		env  string
		want string
	}{
		{args: []string{hostfirst.Command}, want: "of no use by itself"},
		{args: []string{"guest-run"}},
		{args: []string{"guest-run", "precious"}, env: "SIRDBED_GUEST=precious"},
		{args: []string{"guest-init"}},
		{args: []string{"guest-init", "precious"}},
		{args: []string{"guest-cleaner"}},
		{args: []string{"guest-cleaner", "precious"}},
		{args: []string{"guest-cleaner", "precious", "x"}},
		{args: []string{"guest-memory"}},
		{args: []string{"device-restorer"}},
		{args: []string{viewerCommand}},
		{args: []string{"version"}, env: "SIRDBED_SANDBOX=supervisor"},
		{args: []string{"version"}, env: "SIRDBED_SANDBOX=worker"},
	} {
		want := c.want
		if want == "" {
			want = "only sirdbed itself starts this: see sirdbed --help"
		}
		t.Run(strings.TrimSpace(c.env+" "+strings.Join(c.args, " ")), func(t *testing.T) {
			for name, stdin := range map[string]io.Reader{"nothing": nil, "a pipe": strings.NewReader("")} {
				cmd := b.command(c.args...)
				cmd.Stdin = stdin
				if c.env != "" {
					cmd.Env = append(cmd.Env, c.env)
				}
				out, err := cmd.CombinedOutput()
				exit, _ := errors.AsType[*exec.ExitError](err)
				if exit == nil || exit.ExitCode() != exitBadInput || !strings.Contains(string(out), want) ||
					strings.Count(string(out), "\n") != 1 {
					t.Errorf("with %s on standard input: %v, want exit code 2 and a line with %q:\n%s",
						name, err, want, out)
				}
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "precious", "file")); err != nil || string(text) != "text" {
		t.Errorf("the directory that was named has lost its file: %v", err)
	}
}
