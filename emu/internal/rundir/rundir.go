// Package rundir gives tests of engines a run's directory.
package rundir

import (
	"testing"

	"sirdbed/emu"
)

// Open opens a directory as an engine is given it, until the test ends.
func Open(t testing.TB, path string) emu.RunDir {
	t.Helper()
	dir, err := emu.OpenRunDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}
