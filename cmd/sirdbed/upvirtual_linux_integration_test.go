//go:build linux && !portable

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A fabric in a guest has the same commands; its clock stands still between programs. It
// leaves nothing, whether it is taken down or its processes are killed.
func TestUpOnVirtual(t *testing.T) {
	b := build(t)
	if _, err := haveKernel(t); err != nil {
		t.Skip(err)
	}
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch) // which has the guests' directories
	before := b.traces()
	if out := b.must("up", "real.yaml", "--engine", "virtual", "--dilation", "2", "--name", "v"); !strings.Contains(out,
		"on virtual, dilation 2: ") {
		t.Errorf("up printed %q", out)
	}
	during := b.traces()
	serve := b.helper("v", "h1-3", "serve")
	out := &strings.Builder{}
	serve.Stdout = out
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	if !within(t.Context(), 10*time.Second, func() bool { return len(b.ps()[0].Programs) == 1 }) {
		t.Fatal("the server is not among the programs")
	}
	text, err := b.helper("v", "h1-1", "call h1-3").CombinedOutput()
	if err != nil || !strings.Contains(string(text), "called 10.250.1.3:"+helperPort) {
		t.Errorf("by name: %v: %s", err, text)
	}
	if f := b.ps()[0]; f.Engine != "virtual" || f.Programs[0].Node != "h1-3" || f.Programs[0].Command != os.Args[0] {
		t.Errorf("ps lists %+v", f)
	}
	serve.Process.Signal(os.Interrupt) // exec passes it on
	if err := serve.Wait(); code(err) != 128+int(syscall.SIGINT) || !strings.Contains(out.String(), helperGreeting) {
		t.Errorf("the server ended with %v and printed %q", err, out)
	}
	uptime := func() string { return b.must("exec", "h1-1", "cat", "/proc/uptime") }
	if first, second := uptime(), uptime(); strings.Fields(first)[0] != strings.Fields(second)[0] {
		t.Errorf("time has passed in between: up for %s and for %s s", first, second)
	}
	if got := code(b.command("exec", "leaf1", "sh", "-c", "exit 7").Run()); got != 7 {
		t.Errorf("exit code %d, want the program's, 7", got)
	}
	if out, err := b.command("exec", "h1-1").CombinedOutput(); code(err) != exitBadInput {
		t.Errorf("a shell: exit code %d: %s", code(err), out)
	}
	b.must("down", "v")
	b.vanished(before, during)

	b.must("up", "real.yaml", "--engine", "virtual", "--dilation", "2", "--name", "v")
	during = b.traces()
	sleeper := b.command("exec", "h1-1", "sleep", "1000000000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(b.ps()[0].PIDs[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Wait(); err == nil {
		t.Error("a program has outlived its guest")
	}
	b.gone()
	b.must("clean")
	b.vanished(before, during)
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the directory of temporary files: %v (%v)", left, err)
	}
}
