//go:build linux && !portable

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sirdbed/capture/results"
)

// A kernel's ports take several paths at once as the model's do: a sound run over
// paths that differ passes.
func TestVirtualOverPathsThatDifferPasses(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	text := fmt.Sprintf(largeMessages, cores["longer and slower"], "sird", "200KB")
	if err := os.WriteFile(filepath.Join(dir, "paths.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "run", "paths.yaml", "--engine", "virtual", "--json", "--out", "paths")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var s results.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	if s.Verdict != results.Pass {
		t.Errorf("verdict %s: %v", s.Verdict, s.Reasons)
	}
}
