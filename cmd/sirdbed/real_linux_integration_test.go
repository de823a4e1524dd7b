//go:build linux && !portable

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/results"
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

// The figures of such a run depend on the machine; that nothing is lost does
// not.
func TestRealRunDeliversEverything(t *testing.T) {
	b := build(t)
	out, err := b.command("run", "real.yaml", "--out", "r", "--json").Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() != exitInvalid {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	var s results.Summary
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

// A sweep runs its points on a kernel too, one after another.
func TestSweepOnReal(t *testing.T) {
	b := build(t)
	out, err := b.command("sweep", "real.yaml", "--set", "duration=2ms", "--seeds", "1..2", "--json").Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() != exitInvalid { // which a busy machine makes a point
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	var s SweepOutcome
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Points) != 2 || s.Points[0].Engine != "real" || s.Points[1].GoodputGbps == 0 {
		t.Errorf("%d points: %+v", len(s.Points), s.Points)
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
	const script = "echo $SIRDBED_HOST; cat /proc/net/dev"
	out, err := b.command("exec", "--run", name, "h1-2", "sh", "-c", script).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "h1-2\n") || !strings.Contains(string(out), "leaf1:") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = b.command("exec", "h1-9").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitBadInput ||
		!strings.Contains(string(out), `has no host or switch "h1-9"`) {
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
	if _, err := results.ReadSummary(filepath.Join(b.dir, "r")); err != nil {
		t.Error(err)
	}
	b.gone()
}
