package main

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture"
	"sirdbed/sirdnode/nstest"
)

// A few seconds by the wall clock when run through.
const realScenario = `name: real
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 2us, mtu: 9000B}
traffic:
  - {name: bulk, pattern: fixed, from: [h1-1, h1-2], to: [h1-3], size: 100KB, rate: 20Gbps}
  - {name: small, pattern: fixed, from: [h1-1], to: [h1-3], size: 8B, interval: 50us, reply: 8B}
duration: 10ms
drain: 1ms
dilation: 200
`

// A binary is sirdbed as built, in a directory of its own. Its processes are
// found by that directory, which is in their environment.
type binary struct {
	t    *testing.T
	dir  string
	path string
}

func build(t *testing.T) *binary {
	t.Helper()
	b := &binary{t: t, dir: t.TempDir()}
	b.path = filepath.Join(b.dir, "sirdbed")
	if out, err := exec.Command("go", "build", "-o", b.path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "real.yaml"), []byte(realScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := b.command("doctor").CombinedOutput(); err != nil {
		if os.Getenv("SIRDBED_REQUIRE_NETNS") == "1" {
			t.Fatalf("the real engine cannot run here, and SIRDBED_REQUIRE_NETNS=1:\n%s", out)
		}
		t.Skipf("the real engine cannot run here:\n%s", out)
	}
	nstest.Lock(t)
	return b
}

func (b *binary) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.path, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), runtimeDirVar+"="+filepath.Join(b.dir, "runtime"))
	return cmd
}

// processes lists those that the binary has started and that still live.
func (b *binary) processes() (list []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environment, err := os.ReadFile(dir + "/environ")
		if err == nil && strings.Contains(string(environment), runtimeDirVar+"="+b.dir) {
			command, _ := os.ReadFile(dir + "/cmdline")
			list = append(list, filepath.Base(dir)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return list
}

// gone waits until none of the binary's processes lives.
func (b *binary) gone() {
	b.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for len(b.processes()) > 0 {
		if time.Now().After(deadline) {
			b.t.Fatalf("5 s later there are still\n%s", strings.Join(b.processes(), "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// running waits for a live run and returns its name.
func (b *binary) running() string {
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

// The figures of such a run depend on the machine; that nothing is lost does
// not.
func TestRealRunDeliversEverything(t *testing.T) {
	b := build(t)
	out, err := b.command("run", "real.yaml", "--out", "r", "--json").Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() != exitInvalid {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	var s capture.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	v := s.Variants[0]
	if s.Engine != "real" || s.Dilation != 200 || v.Counters["messages_delivered"] == 0 ||
		v.Counters["messages_delivered"] != v.Counters["messages_offered"] || v.Counters["payload_mismatches"] != 0 {
		t.Errorf("engine %s, dilation %d, counters %v", s.Engine, s.Dilation, v.Counters)
	}
	b.gone()
}

func TestExecEntersAHost(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("nsenter is not installed")
	}
	b := build(t)
	run := b.command("run", "real.yaml", "--out", "r")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		run.Process.Signal(os.Interrupt)
		run.Wait()
		b.gone()
	}()
	name := b.running()
	out, err := b.command("exec", "--run", name, "h1-2", "sh", "-c", "echo $SIRDBED_HOST; cat /proc/net/dev").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "h1-2\n") || !strings.Contains(string(out), "leaf1:") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = b.command("exec", "h1-9").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitBadInput || !strings.Contains(string(out), `has no host "h1-9"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestInterruptedRealRunReports(t *testing.T) {
	b := build(t)
	run := b.command("run", "real.yaml", "--out", "r", "--set", "duration=1s")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	b.running()
	run.Process.Signal(os.Interrupt)
	if run.Wait(); run.ProcessState.ExitCode() != exitStopped {
		t.Errorf("it ended with %v", run.ProcessState)
	}
	if _, err := capture.ReadSummary(filepath.Join(b.dir, "r")); err != nil {
		t.Error(err)
	}
	b.gone()
}

// However a run is killed it leaves no process, and with the last process go
// its namespaces, interfaces and mounts, none of which has a name.
func TestKilledRunLeavesNothing(t *testing.T) {
	b := build(t)
	for i := range 20 {
		run := b.command("run", "real.yaml", "--json", "--set", "duration=1s")
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(1200)) * time.Millisecond)
		run.Process.Signal(syscall.SIGKILL)
		run.Wait()
		b.gone()
		if t.Failed() {
			t.Fatalf("at kill %d", i+1)
		}
	}
	if out, err := b.command("clean").Output(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, "runtime", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	// What was measured until then can still be told.
	results, _ := filepath.Glob(filepath.Join(b.dir, "results", "*"))
	for _, dir := range results {
		out, err := b.command("report", dir).CombinedOutput()
		exit, failed := errors.AsType[*exec.ExitError](err)
		if failed && exit.ExitCode() != exitInvalid && !strings.Contains(string(out), "has no variant whose logs can be read") && !strings.Contains(string(out), "it has no scenario.json") {
			t.Errorf("report %s: %v\n%s", dir, err, out)
		}
	}
}
