//go:build linux && !portable

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu/rights"
	"sirdbed/emu/virtual/kernel"
)

// Two racks, packets sprayed over two spines, marks in the core, captures: all
// that could differ from run to run, in some seconds.
const virtualScenario = `name: virtual
topology:
  {leaves: 2, spines: 2, hosts_per_leaf: 3, host_rate: 100Gbps, core_rate: 400Gbps,
   host_delay: 1.25us, core_delay: 0.5us, mtu: 1500B}
engine: virtual
traffic:
  - {name: all, pattern: poisson, sizes: wka, load: 0.5}
duration: 100us
drain: 50us
capture: [leaf1, h1-1]
`

// haveKernel returns the guest's kernel, or that it is not built, which is a failure with
// SIRDBED_REQUIRE_KERNEL=1. It fails if the cache cannot be read.
func haveKernel(t testing.TB) (kernel.Built, error) {
	t.Helper()
	built, err := findKernel()
	if err != nil && (!errors.Is(err, kernel.ErrNotBuilt) || os.Getenv("SIRDBED_REQUIRE_KERNEL") == "1") {
		t.Fatal(err)
	}
	return built, err
}

// virtualBinary returns sirdbed and a directory with virtual.yaml in it. It skips where the
// guest's kernel is not built.
func virtualBinary(t testing.TB) (path, dir string) {
	t.Helper()
	if _, err := haveKernel(t); err != nil {
		t.Skip(err)
	}
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "virtual.yaml"), []byte(virtualScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

// The same seed has the same outcome to the last bit: messages, queues, every
// host's log and every captured packet with its time. It does not matter whether
// memory comes in huge pages.
func TestVirtualRunsRepeat(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	var digests []string
	for _, run := range []struct{ out, tmpdir string }{{"a", ""}, {"b", t.TempDir()}} {
		cmd := exec.Command(path, "run", "virtual.yaml", "--json", "--out", run.out)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), "TMPDIR="+run.tmpdir)
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var s results.Summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s.Verdict != results.Pass {
			t.Errorf("verdict %s: %v", s.Verdict, s.Reasons)
		}
		digests = append(digests, s.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("digests %v", digests)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "a", "variants", "*", "*", "*"))
	if err != nil || len(logs) < 8 {
		t.Fatalf("%d logs (%v)", len(logs), err)
	}
	for _, log := range logs {
		rel, _ := filepath.Rel(filepath.Join(dir, "a"), log)
		a, errA := os.ReadFile(log)
		b, errB := os.ReadFile(filepath.Join(dir, "b", rel))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs (%v, %v)", rel, errA, errB)
		}
	}
}

// Results may be at names that mean something else in a guest, or to its kernel.
func TestVirtualRunsAnywhere(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	for _, out := range []string{"/run/console", "/run/guest", "/run/tmp", "/proc/self/cwd/there"} {
		t.Run(out, func(t *testing.T) {
			_, err := os.Lstat(out)
			if mine := strings.HasPrefix(out, "/proc/"); !mine && (err == nil || !rights.Writable("/run")) {
				t.Skip(out + " is there, or not to be made")
			} else if !mine {
				defer os.RemoveAll(out)
			}
			cmd := exec.Command(path, "run", "virtual.yaml", "--out", out)
			cmd.Dir = dir
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

// A program that is no kernel, and says nothing, is named, with what to do.
func TestKernelThatIsNone(t *testing.T) {
	program := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(kernelVar, program)
	path, dir := virtualBinary(t)
	cmd := exec.Command(path, "kernel", "status")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	want := program + ", which " + kernelVar + " names (unset it to use the cache's), ended before its first line"
	if err == nil || !strings.Contains(string(said), want) {
		t.Errorf("got %v, want %q:\n%s", err, want, said)
	}
}

// An interrupt ends the run early, reports what was measured, and leaves nothing
// behind.
func TestVirtualInterrupt(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	memory := t.TempDir()
	cmd := exec.Command(path, "run", "virtual.yaml", "--json", "--out", "out", "--set", "duration=100ms")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+memory)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitStopped {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(asked); took > 20*time.Second {
		t.Errorf("the interrupt took %v", took)
	}
	for _, file := range []string{"summary.json", "messages.parquet", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, "out", file)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(memory); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
