//go:build linux && !portable

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/cmd/sirdbed/hostfirst"
	"sirdbed/emu/tree"
	"sirdbed/sirdnode/nstest"
)

// A program is sirdbed as built, at work in a directory of a test's own. Its
// processes are found by that directory, which is in their environment.
type program struct {
	t    *testing.T
	dir  string
	path string
}

// built is the directory of sirdbed as built, once for all tests. TestMain removes it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func init() { whenOver = append(whenOver, func() { os.RemoveAll(built.dir) }) }

// buildProgram makes sirdbed, where other users find it too, and returns its path.
func buildProgram() (path string, err error) {
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "sirdbed-test-"); built.err != nil {
			return
		}
		os.Chmod(built.dir, 0o755)
		if out, err := exec.Command("go", "build", "-o", built.dir, ".").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	return filepath.Join(built.dir, "sirdbed"), built.err
}

// refusal is why real runs are impossible here, in doctor's words, or nothing.
var refusal = sync.OnceValue(func() []byte {
	path, _ := buildProgram()
	if out, err := exec.Command(path, "doctor").CombinedOutput(); err != nil {
		return out
	}
	return nil
})

// build returns sirdbed in a new directory with real.yaml in it. The test is
// skipped where the real engine cannot run.
func build(t *testing.T) *program {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	if why := refusal(); why != nil && os.Getenv("SIRDBED_REQUIRE_NETNS") == "1" {
		t.Fatalf("the real engine cannot run here, and SIRDBED_REQUIRE_NETNS=1:\n%s", why)
	} else if why != nil {
		t.Skipf("the real engine cannot run here:\n%s", why)
	}
	b := &program{t: t, dir: t.TempDir(), path: path}
	b.write("real.yaml", realScenario)
	nstest.Lock(t)
	return b
}

func (b *program) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o666); err != nil {
		b.t.Fatal(err)
	}
}

func (b *program) command(args ...string) *exec.Cmd { return b.other(b.path, args...) }

// other is a command of another program, in the same place.
func (b *program) other(path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), path, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), b.marker())
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func (b *program) marker() string { return runtimeDirVar + "=" + filepath.Join(b.dir, "runtime") }

// sh runs a shell script in which $SIRDBED is the binary, and returns all that
// it prints.
func (b *program) sh(script string) (string, error) {
	cmd := b.other("/bin/sh", "-c", script)
	cmd.Env = append(cmd.Env, "SIRDBED="+b.path)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A process is one that a program has started, directly or not.
type process struct {
	pid     int
	command string // with its arguments
	sandbox string // its part in a sandbox, see package emu
}

// processes lists those that the binary has started and that still live.
func (b *program) processes() (list []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environment, err := os.ReadFile(dir + "/environ")
		if err != nil || !strings.Contains(string(environment), b.marker()) {
			continue
		}
		command, _ := os.ReadFile(dir + "/cmdline")
		p := process{command: strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))}
		p.pid, _ = strconv.Atoi(filepath.Base(dir))
		for v := range strings.SplitSeq(string(environment), "\x00") {
			if part, ok := strings.CutPrefix(v, "SIRDBED_SANDBOX="); ok {
				p.sandbox = part
			}
		}
		list = append(list, p)
	}
	return list
}

func (p process) isHost() bool {
	return strings.HasSuffix(p.command, " "+hostfirst.Command)
}

// gone waits until none of the binary's processes lives.
func (b *program) gone() {
	b.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for len(b.processes()) > 0 {
		if time.Now().After(deadline) {
			b.t.Fatalf("5 s later there are still\n%v", b.processes())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// running waits for a live run and returns its name.
func (b *program) running() string {
	b.t.Helper()
	for range 500 {
		out, err := b.command("clean", "--json").Output()
		var found struct{ Running []string }
		if err == nil && json.Unmarshal(out, &found) == nil && len(found.Running) > 0 {
			return found.Running[0]
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatal("no run says that it is up")
	return ""
}

// result analyzes what a run has left in a directory.
func (b *program) result(dir string) (*results.Summary, []*results.Variant) {
	b.t.Helper()
	dir = filepath.Join(b.dir, dir)
	summary, err := results.ReadSummary(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return summary, judgedVariants(b.t, dir)
}

// judgedVariants analyzes and judges the variants in a result's directory.
func judgedVariants(t *testing.T, path string) []*results.Variant {
	t.Helper()
	dir, err := tree.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	record, err := readRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	variants, lost, err := readVariants(dir, record, false)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	return variants
}

// variant analyzes the only variant in a results directory.
func (b *program) variant(dir string) *results.Variant {
	b.t.Helper()
	_, variants := b.result(dir)
	if len(variants) != 1 {
		b.t.Fatalf("%s has %d variants", dir, len(variants))
	}
	return variants[0]
}

// code is the exit code that a command's error carries.
func code(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return exitFine
}

// within reports whether something comes true in a time.
func within(ctx context.Context, d time.Duration, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}
