package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
)

// made runs quickstart on the model and returns the result's path.
func made(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	args := []string{"run", "quickstart", "--engine", "model", "--set", "duration=1ms", "--set", "bounds=[]"}
	args = append(args, "--out", dir)
	if code := execute(t.Context(), args, t.Output(), t.Output()); code != exitFine {
		t.Fatalf("exit code %d", code)
	}
	return dir
}

// asOrdinaryUser calls do on a thread that has no rights to others' files.
func asOrdinaryUser(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if err := unix.Setfsuid(nobody); err != nil {
		t.Skip(err)
	}
	defer unix.Setfsuid(0)
	do()
}

// A result that cannot be written is reported all the same, with what to do.
func TestReportOfAResultThatCannotBeWritten(t *testing.T) {
	dir := made(t)
	for _, path := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} { // the test's own
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(filepath.Join(dir, results.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "plots")} {
		if err := os.Chmod(path, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755)
	}
	if err := os.Chmod(filepath.Join(dir, scenarioFile), 0o444); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	asOrdinaryUser(t, func() { err = reportAgain(dir, false, resultFiles{}, &stdout, &stderr) })
	if exitCode(err) != exitFailed || !strings.Contains(stdout.String(), "Verdict: PASS") {
		t.Errorf("got %v and\n%s\nwant an error and the report", err, stdout.String())
	}
	const want = "cannot be written, so that the above is not kept"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "permission denied") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %q, want one line with %q", err, want)
	}
	after, err := os.Stat(filepath.Join(dir, results.SummaryFile))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("summary.json was written (%v)", err)
	}
}

// lockedResult locks a result as a run or report does, until unlock is called.
func lockedResult(t *testing.T, path string) (unlock func()) {
	t.Helper()
	dir, err := tree.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	if unlock, err = lockResult(dir); err != nil {
		t.Fatal(err)
	}
	return unlock
}

// Of two that write a result one is refused.
func TestAResultIsWrittenByOneAtATime(t *testing.T) {
	path := made(t)
	unlock := lockedResult(t, path)
	var stdout, stderr bytes.Buffer
	if err := reportAgain(path, false, resultFiles{}, &stdout, &stderr); !errors.Is(err, errBusy) || stdout.Len() > 0 {
		t.Errorf("got %v and %q, want an error that says it is being written", err, stdout.String())
	}
	unlock()
	if err := reportAgain(path, false, resultFiles{}, &stdout, &stderr); err != nil {
		t.Error(err)
	}
}

// Whoever replaces a run's directory by a link, or plants links in it, the run writes
// into its own directory alone.
func TestARunWritesIntoItsOwnDirectoryAlone(t *testing.T) {
	victim := t.TempDir()
	var away string
	dir, _, _, err := runFake(t, t.Context(), func(_ context.Context, x *emu.Experiment, variant string) error {
		dir := filepath.Dir(filepath.Dir(variant))
		away = dir + ".away"
		return errors.Join(
			os.WriteFile(filepath.Join(victim, "theirs"), []byte("text"), 0o666),
			os.Mkdir(filepath.Join(victim, "variants"), 0o777),
			os.Symlink(filepath.Join(victim, "theirs"), filepath.Join(dir, "report.html")),
			os.Symlink(filepath.Join(victim, "theirs"), filepath.Join(dir, "summary.json.part")),
			os.Rename(dir, away), os.Symlink(victim, dir))
	})
	if exitCode(err) != exitInvalid { // the second variant has no logs
		t.Error(err)
	}
	list, err := os.ReadDir(victim)
	if err != nil || len(list) != 2 {
		t.Errorf("in the other directory are %v, %v, want what was there", list, err)
	}
	if list, err := os.ReadDir(filepath.Join(victim, "variants")); err != nil || len(list) > 0 {
		t.Errorf("there are variants %v, %v, want none", list, err)
	}
	if text, err := os.ReadFile(filepath.Join(victim, "theirs")); err != nil || string(text) != "text" {
		t.Errorf("the other file has %q, %v", text, err)
	}
	if s, err := results.ReadSummary(away); err != nil || len(s.Variants) != 3 {
		t.Errorf("the result is %v, %v, want 3 variants in %s and not %s", s, err, away, dir)
	}
}
