package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/scenarios"
)

// began is a time at which runs begin.
var began = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

const twoVariants = `name: two
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 1us}
traffic: [{name: a, pattern: fixed, from: [h1-1], to: [h1-2], size: 8B, interval: 10us}]
variants: [{name: first}, {name: second}, {name: third}]
duration: 1ms
bounds: [{name: offered, metric: messages, stat: offered, min: 1}]
`

// A fakeEngine is the model, but at the variant "second" something else.
type fakeEngine struct {
	model.Engine
	second func(ctx context.Context, x *emu.Experiment, dir string) error
}

func (e fakeEngine) Run(ctx context.Context, x *emu.Experiment, dir emu.RunDir, hooks emu.Hooks) (*emu.Facts, error) {
	if x.Variant != "second" {
		return e.Engine.Run(ctx, x, dir, hooks)
	}
	facts := &emu.Facts{Engine: "model"}
	err := errors.Join(dir.Begin(x), e.second(ctx, x, dir.Path()))
	if err != nil {
		facts.Failure = err.Error()
	}
	return facts, errors.Join(err, dir.End(facts))
}

// runFake runs twoVariants on a fakeEngine.
func runFake(
	t *testing.T, ctx context.Context, second func(context.Context, *emu.Experiment, string) error,
) (dir, stdout, stderr string, err error) {
	t.Helper()
	engines["fake"] = engineKind{make: func(whileUp) emu.Engine { return fakeEngine{second: second} }}
	defer delete(engines, "fake")
	temp := t.TempDir()
	file := filepath.Join(temp, "two.yaml")
	if err := os.WriteFile(file, []byte(twoVariants), 0o666); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(temp, "out")
	r, err := prepare(file, runOptions{engine: "fake", out: dir, files: resultFiles{junit: dir + ".xml"}})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	r.stdout, r.stderr = &out, &errs
	err = r.run(ctx)
	return dir, out.String(), errs.String(), err
}

func exitCode(err error) int {
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	if err != nil {
		return exitFailed
	}
	return exitFine
}

func TestFailedVariantFailsTheRunAndKeepsTheOthers(t *testing.T) {
	dir, stdout, stderr, err := runFake(t, t.Context(), func(context.Context, *emu.Experiment, string) error {
		return errors.New("the process of host h1-2 died: its standard error:\npanic: at the disco")
	})
	if exitCode(err) != exitFailed {
		t.Errorf("exit code %d", exitCode(err))
	}
	for _, want := range []string{"panic: at the disco", "1 of 3 variants failed: second", "[3/3] third: done"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	s, err := results.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Variants) != 3 || s.Verdict != results.Invalid ||
		s.Variants[0].Verdict != results.Pass || s.Variants[2].Verdict != results.Pass {
		t.Errorf("summary is of %d variants, verdict %s", len(s.Variants), s.Verdict)
	}
	if len(s.Bounds) != 2 || !s.Bounds[0].OK || !s.Bounds[1].OK {
		t.Errorf("bounds are %+v", s.Bounds)
	}
	if !strings.Contains(stdout, "third") {
		t.Errorf("the third variant is not in the tables:\n%s", stdout)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir, _, stderr, err := runFake(t, ctx, func(ctx context.Context, _ *emu.Experiment, _ string) error {
		interrupt()
		return ctx.Err()
	})
	if exitCode(err) != exitStopped {
		t.Errorf("exit code %d", exitCode(err))
	}
	if !strings.Contains(stderr, "[2/3] second: interrupted") || strings.Contains(stderr, "third") {
		t.Errorf("stderr is\n%s", stderr)
	}
	s, err := results.ReadSummary(dir)
	if err != nil || len(s.Variants) != 2 || len(s.Bounds) != 1 {
		t.Errorf("summary is %+v, %v", s, err)
	}
}

func TestVariantsThatAnInterruptLeavesOutAreNamed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir, stdout, _, err := runFake(t, ctx, func(context.Context, *emu.Experiment, string) error {
		interrupt()
		return nil
	})
	if exitCode(err) != exitStopped || !strings.Contains(stdout, "third: nothing to report: it was not run") {
		t.Errorf("exit code %d, stdout is\n%s", exitCode(err), stdout)
	}
	if s, err := results.ReadSummary(dir); err != nil || s.Verdict != results.Invalid {
		t.Errorf("summary is %+v, %v", s, err)
	}
}

func TestInterruptBeforeTheFirstVariant(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	dir, _, stderr, err := runFake(t, ctx, nil)
	if exitCode(err) != exitStopped {
		t.Errorf("exit code %d", exitCode(err))
	}
	if !strings.Contains(stderr, "interrupted: nothing was measured") || strings.Contains(stderr, "logs can be read") {
		t.Errorf("stderr is\n%s", stderr)
	}
	junit, err := os.ReadFile(dir + ".xml")
	if err != nil || !strings.Contains(string(junit), `tests="3" failures="0" errors="3"`) {
		t.Errorf("JUnit is %s, %v", junit, err)
	}
}

func TestFullDisk(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/data/x.rec", Err: syscall.ENOSPC}
	_, _, stderr, _ := runFake(t, t.Context(), func(context.Context, *emu.Experiment, string) error { return full })
	const want = "is full: free some space, or put results elsewhere with --out " +
		"(write /data/x.rec: no space left on device)"
	if !strings.Contains(stderr, want) {
		t.Errorf("stderr is\n%s", stderr)
	}
}

func TestRunsOfTheSameSecondDoNotMix(t *testing.T) {
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	for range 3 {
		dir, err := makeResults("", "x", began)
		if err != nil || seen[dir.Path()] {
			t.Fatalf("%v, %v", dir, err)
		}
		seen[dir.Path()] = true
		dir.Close()
	}
}

// A value of --set may have several lines; the scenario that is kept is one still.
func TestKeptScenarioLoads(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "two.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(twoVariants), 0o666); err != nil {
		t.Fatal(err)
	}
	set := "variants=\n- name: one\n- name: other"
	args := []string{"run", file, "--engine", "model", "--out", out, "--set", set}
	if code := execute(t.Context(), args, t.Output(), t.Output()); code != exitFine {
		t.Fatalf("exit code %d", code)
	}
	s, err := scenarios.Load(filepath.Join(out, scenarioText))
	if err != nil || len(s.Variants) != 3 {
		t.Errorf("%s: %v", scenarioText, err)
	}
}
