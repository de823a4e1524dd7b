//go:build linux && !portable

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// A scenario and --guests say how many guests share a fabric. Their number is in the
// experiment as it is run, and the model is not asked for any. Variants side by side have
// the digest that they have one after another.
func TestGuestsOfARun(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	text := strings.Replace(virtualScenario, "engine: virtual", "guests: 2\nprotocols: [sird, dctcp]", 1)
	if err := os.WriteFile(filepath.Join(dir, "two.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(out string, args ...string) *results.Summary {
		t.Helper()
		cmd := exec.Command(path, append([]string{"run", "two.yaml", "--json", "--out", out}, args...)...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		printed, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		s := &results.Summary{}
		if err := json.Unmarshal(printed, s); err != nil {
			t.Fatal(err)
		}
		if s.Verdict == results.Invalid {
			t.Errorf("%v: the verdict is %s: %v", args, s.Verdict, s.Reasons)
		}
		return s
	}
	asRun := func(out string) (x emu.Experiment) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, out, results.VariantsDir, "sird", emu.ExperimentFile))
		if err == nil {
			err = json.Unmarshal(text, &x)
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	digests := map[string]string{}
	for _, c := range []struct {
		out  string
		args []string
		want int
	}{
		{"two", []string{"--engine", "virtual", "--variant", "sird"}, 2},
		{"one", []string{"--engine", "virtual", "--guests", "1", "--jobs", "1"}, 0},
		{"beside", []string{"--engine", "virtual", "--guests", "1", "--jobs", "2"}, 0},
		{"model", []string{"--engine", "model"}, 0},
	} {
		digests[c.out] = run(c.out, c.args...).Digest
		if got := asRun(c.out).Guests; got != c.want {
			t.Errorf("%s: the experiment has %d guests, want %d", c.out, got, c.want)
		}
	}
	if digests["one"] != digests["beside"] {
		t.Errorf("side by side the digest is %s, one after another %s", digests["beside"], digests["one"])
	}
}
