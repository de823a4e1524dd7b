//go:build linux && !portable

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
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

// virtualBinary builds sirdbed and skips where the guest's kernel is not built.
func virtualBinary(t testing.TB) (path, dir string) {
	t.Helper()
	if _, err := haveKernel(t); err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	path = filepath.Join(dir, "sirdbed")
	if err := buildProgram(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "virtual.yaml"), []byte(virtualScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

// The same seed has the same outcome to the last bit: messages, queues, every
// host's log and every captured packet with its time. It does not matter whether
// memory comes in huge pages.
func TestVirtualRunsRepeat(t *testing.T) {
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

// An interrupt ends the run early, reports what was measured, and leaves nothing
// behind.
func TestVirtualInterrupt(t *testing.T) {
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
