//go:build !portable

package main

import (
	"os"
	"testing"

	"sirdbed/emu"
)

// Runs side by side have one kernel, which stays open as long as any of them needs it.
func TestRunsShareAKernel(t *testing.T) {
	opened := 0
	k := &sharedKernel{open: func() (*os.File, error) {
		opened++
		return os.Open(os.DevNull)
	}}
	first, err := k.reserve()
	must(t, err)
	path, _ := k.names()
	second, err := k.reserve()
	must(t, err)
	first()
	first() // once is enough
	if same, _ := k.names(); same != path || opened != 1 {
		t.Errorf("%s after the first run's end, want %s; opened %d times", same, path, opened)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	second()
	if path, name := k.names(); path != "" || name != "" {
		t.Errorf("%s is open without a run", path)
	}
}

// Where nothing is reserved, as where Slurm's nodes are to run it, the engine can be asked what it
// thinks of an experiment.
func TestVirtualChecksWithoutAKernel(t *testing.T) {
	if err := engines[emu.Virtual].make(whileUp{}).Check(&emu.Experiment{Protocol: "nosuch"}); err == nil {
		t.Error("an unknown protocol is fine")
	}
}
