//go:build linux && !portable

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helper is a command in a node of a fabric that runs the test binary.
func (b *program) helper(fabric, node, role string) *exec.Cmd {
	cmd := b.command("exec", "--run", fabric, node, os.Args[0])
	cmd.Env = append(cmd.Env, helperVar+"="+role)
	return cmd
}

// ps lists the fabrics that are up.
func (b *program) ps() (list []ListedFabric) {
	b.t.Helper()
	out, err := b.command("ps", "--json").Output()
	if err != nil || json.Unmarshal(out, &list) != nil {
		b.t.Fatalf("ps: %v: %s", err, out)
	}
	return list
}

// must runs a command of the program, which must succeed, and returns what it prints.
func (b *program) must(args ...string) string {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("sirdbed %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Two fabrics are up at once, apart from one another. Nodes are entered by name, and
// have names for one another. A name is taken until down has ended all of it.
func TestUpExecDown(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("nsenter is not installed")
	}
	b := build(t)
	before := b.traces()
	if out := b.must("up", "real.yaml", "--name", "a"); !strings.Contains(out, "a is up: ") ||
		!strings.Contains(out, "dilation 20") { // the scenario's
		t.Errorf("up printed %q", out)
	}
	b.must("up", "real.yaml", "--name", "b", "--dilation", "1")
	during := b.traces()
	out, err := b.command("up", "real.yaml", "--name", "a").CombinedOutput()
	if code(err) != exitBadInput ||
		!strings.Contains(string(out), "a fabric called a is up: take it down (sirdbed down a)") {
		t.Errorf("a second a: exit code %d: %s", code(err), out)
	}
	serve := b.helper("b", "h1-3", "serve")
	pipe, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len(helperServes))
	if _, err := io.ReadFull(pipe, line); err != nil || string(line) != helperServes {
		t.Fatalf("the server printed %q: %v", line, err)
	}
	if out, err := b.helper("b", "h1-1", "call h1-3").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "called 10.250.1.3:"+helperPort) {
		t.Errorf("by name: %v: %s", err, out)
	}
	if out, err := b.helper("a", "h1-1", "call h1-3").CombinedOutput(); err == nil {
		t.Errorf("the other fabric has that server too: %s", out)
	}
	if out := b.must("exec", "--run", "a", "leaf1", "cat", "/proc/net/dev"); !strings.Contains(out, "h1-2:") {
		t.Errorf("leaf1 has no port to h1-2: %s", out)
	}
	if out, err := b.command("exec", "--run", "a", "h1-1", "no-such-program").CombinedOutput(); code(err) != 127 {
		t.Errorf("a program that is not there: exit code %d: %s", code(err), out)
	}
	list := b.ps()
	names := []string{list[0].Name, list[1].Name}
	slices.Sort(names)
	b0 := list[slices.IndexFunc(list, func(f ListedFabric) bool { return f.Name == "b" })]
	if !slices.Equal(names, []string{"a", "b"}) || b0.By != "up" || b0.Engine != "real" || b0.Hosts != 3 ||
		len(b0.PIDs) != 3+b0.Hosts || b0.Scenario != filepath.Join(b.dir, "real.yaml") || len(b0.Programs) != 1 ||
		b0.Programs[0].Node != "h1-3" || b0.Programs[0].Command != os.Args[0] {
		t.Errorf("ps lists %+v", list)
	}
	if out, err := b.command("down").CombinedOutput(); code(err) != exitBadInput ||
		!strings.Contains(string(out), "2 fabrics are up, so name the one to take down: ") {
		t.Errorf("down of either: exit code %d: %s", code(err), out)
	}
	b.must("down", "b")
	if err := serve.Wait(); err == nil {
		t.Error("the server has outlived its fabric")
	}
	b.must("up", "real.yaml", "--name", "b") // its name is free at once
	b.must("down", "b")
	if out := b.must("down"); out != "a is down\n" {
		t.Errorf("down printed %q", out)
	}
	if left := b.left(before, during); len(left) > 0 {
		t.Errorf("down has left %v", left)
	}
	b.vanished(before, during)
}

// A fabric goes, with what runs in it, when any of the processes is killed that keep it.
// Only a file is left then, for clean.
func TestKilledUp(t *testing.T) {
	b := build(t)
	before := b.traces()
	for which := range 3 {
		b.must("up", "real.yaml", "--name", "k")
		sleeper := b.command("exec", "h1-1", "sleep", "1000")
		if err := sleeper.Start(); err != nil {
			t.Fatal(err)
		}
		during := b.traces()
		list := b.ps()
		if len(list) != 1 || len(list[0].PIDs) != 3+list[0].Hosts { // those of hosts come last
			t.Fatalf("ps lists %+v", list)
		}
		if err := syscall.Kill(list[0].PIDs[which], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		sleeper.Wait()
		b.gone()
		if out, err := b.command("down", "k").CombinedOutput(); err == nil {
			t.Errorf("down of what was killed succeeds: %s", out)
		}
		if out := b.must("clean"); !strings.Contains(out, "removed the state of k, which was killed") {
			t.Errorf("clean printed %q", out)
		}
		b.vanished(before, during)
	}
}

// An up that is killed before it is done leaves a fabric that down finds, or nothing.
func TestKilledBeforeItIsUp(t *testing.T) {
	b := build(t)
	before := b.traces()
	for _, after := range []time.Duration{0, 5, 20, 40, 60, 80, 120} {
		up := b.command("up", "real.yaml", "--name", "k")
		up.WaitDelay = 0
		if err := up.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		during := b.traces()
		up.Process.Kill()
		up.Wait()
		settled := within(t.Context(), 10*time.Second, func() bool {
			return len(b.processes()) == 0 || len(b.ps()) == 1
		})
		if !settled {
			t.Fatalf("killed after %d ms it left %v", after, b.processes())
		}
		if len(b.ps()) == 1 {
			b.must("down", "k")
		}
		b.gone()
		b.must("clean")
		b.vanished(before, during)
	}
}

// A process that is stopped does not keep down from taking the fabric down.
func TestDownOfAStoppedFabric(t *testing.T) {
	b := build(t)
	before := b.traces()
	b.must("up", "real.yaml", "--name", "s")
	during := b.traces()
	pids := b.ps()[0].PIDs
	if err := syscall.Kill(pids[len(pids)-1], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.must("down", "s")
	b.vanished(before, during)
}

// In the foreground a fabric is up until an interrupt, which is no failure.
func TestUpInTheForeground(t *testing.T) {
	b := build(t)
	before := b.traces()
	up := b.command("up", "real.yaml", "--foreground")
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	if got := b.running(); got != "real" {
		t.Errorf("it is called %q, want the scenario's name", got)
	}
	during := b.traces()
	up.Process.Signal(os.Interrupt)
	if err := up.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	b.vanished(before, during)
}

// Of two fabrics that come up under one name at once one does, and the other says why not.
func TestTwoUpsAtOnce(t *testing.T) {
	b := build(t)
	before := b.traces()
	type end struct {
		code int
		out  string
	}
	ends := make(chan end, 2)
	for range 2 {
		go func() {
			out, err := b.command("up", "real.yaml", "--name", "k").CombinedOutput()
			ends <- end{code(err), string(out)}
		}()
	}
	first, second := <-ends, <-ends
	if first.code == 0 {
		first, second = second, first
	}
	if second.code != 0 || !strings.HasPrefix(second.out, "k is up: ") {
		t.Errorf("neither is up: exit code %d: %s", second.code, second.out)
	}
	if first.code != exitBadInput || !strings.HasPrefix(first.out, "sirdbed: a fabric called k is up: ") {
		t.Errorf("of one: exit code %d: %s", first.code, first.out)
	}
	during := b.traces()
	b.must("down", "k")
	b.vanished(before, during)
}

// A fabric that nobody can be told of goes down again.
func TestUpWithoutAnOutput(t *testing.T) {
	b := build(t)
	before := b.traces()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	up := b.command("up", "real.yaml", "--foreground")
	var said strings.Builder
	up.Stdout, up.Stderr = full, &said
	if err := up.Run(); code(err) != exitFailed || !strings.HasSuffix(said.String(), "no space left on device\n") {
		t.Errorf("exit code %d: %s", code(err), &said)
	}
	b.vanished(before, b.traces())
}

// What cannot be brought up is bad input, or says what is missing.
func TestUpRefuses(t *testing.T) {
	b := build(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"up", "real.yaml", "--engine", "model"}, "the engine model builds no fabric"},
		{[]string{"up", "real.yaml", "--name", "A b"}, "want up to 64 small letters"},
		{[]string{"up", "nowhere.yaml"}, "nowhere.yaml is neither a file nor"},
		{[]string{"up"}, "usage: sirdbed up SCENARIO"},
		{[]string{"exec", "h1-1", "true"}, "no fabric of this user is up"},
		{[]string{"down"}, "no fabric of this user is up"},
		{[]string{"program-inside", "x"}, "only sirdbed itself starts this"},
	} {
		out, err := b.command(c.args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("sirdbed %v: %v: got %q, want %q", c.args, err, out, c.want)
		}
	}
}
