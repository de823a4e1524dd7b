//go:build linux && !portable

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sirdbed/capture/results"
)

// impostor leaves a mark when it is executed.
func impostor(mark string) string { return "#!/bin/sh\n: >" + mark + "\nexit 1\n" }

// A program that is replaced while a run is on, by a rebuild say, has no part in
// it: all of a run's processes are of the one that was started. Nothing else beside it
// is executed either.
func TestRunIsOfOneBuild(t *testing.T) {
	for _, engine := range []string{"real", "virtual"} {
		t.Run(engine, func(t *testing.T) {
			b := build(t)
			if engine == "virtual" {
				if _, err := haveKernel(t); err != nil {
					t.Skip(err)
				}
			}
			text, err := os.ReadFile(b.path)
			if err != nil {
				t.Fatal(err)
			}
			b.path = filepath.Join(b.dir, "sirdbed")
			mark := filepath.Join(b.dir, "executed")
			for name, text := range map[string]string{"sirdbed": string(text), "sirdbed-node": impostor(mark),
				"nsenter": impostor(mark), "new": impostor(mark)} {
				if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b.write("two.yaml", realScenario+"variants:\n  - {name: one}\n  - {name: two}\n")
			run := b.command("run", "two.yaml", "--out", "out", "--engine", engine)
			var said strings.Builder
			run.Stdout, run.Stderr = &said, &said
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			first := filepath.Join(b.dir, "out", "variants", "one", "experiment.json")
			if !within(t.Context(), time.Minute, func() bool { _, err := os.Stat(first); return err == nil }) {
				t.Fatal("the first variant does not begin")
			}
			if err := os.Rename(filepath.Join(b.dir, "new"), b.path); err != nil {
				t.Fatal(err)
			}
			err = run.Wait()
			if _, gone := os.Stat(mark); gone == nil {
				t.Error("the new program, or one beside it, was executed")
			}
			summary, e := results.ReadSummary(filepath.Join(b.dir, "out"))
			if c := code(err); c == exitFailed || c == exitBadInput || e != nil || len(summary.Variants) != 2 {
				t.Errorf("exit code %d, %v, want both variants\n%s", c, e, said.String())
			}
		})
	}
}
