//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What killed processes have left is removed, what a live one has is not, nor what is not
// this user's alone, or of another name.
func TestScratchOfKilledProcesses(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	live, err := makeScratch()
	if err != nil {
		t.Fatal(err)
	}
	killed, err := makeScratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed.path, "facts.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	killed.lock.Close() // as the system does
	unlocked := filepath.Join(tmp, scratchPrefix+"x")
	shared := filepath.Join(tmp, scratchPrefix+"shared")
	other := filepath.Join(tmp, "sirdbed-point-1")
	alone := filepath.Join(tmp, scratchPrefix+"y"+lockSuffix)
	for path, mode := range map[string]os.FileMode{unlocked: 0o700, shared: 0o777, other: 0o700} {
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(alone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removed := sweepScratch()
	slices.Sort(removed)
	want := []string{killed.path, unlocked}
	slices.Sort(want)
	if !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	for path, there := range map[string]bool{
		live.path: true, live.path + lockSuffix: true, shared: true, other: true,
		killed.path: false, killed.path + lockSuffix: false, unlocked: false, alone: false,
	} {
		if _, err := os.Lstat(path); (err == nil) != there {
			t.Errorf("%s: there %v, want %v", filepath.Base(path), err == nil, there)
		}
	}
	if err := live.remove(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(tmp); len(entries) != 2 {
		t.Errorf("left: %v, want those of others", entries)
	}
}
