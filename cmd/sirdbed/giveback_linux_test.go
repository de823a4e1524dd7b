package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sirdbed/emu"
)

// sudoer is who has called sudo, other somebody else.
const sudoer, other = 12345, 23456

// What a run under sudo makes is the user's, and nothing else is.
func TestOwnersUnderSudo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "12345")
	t.Chdir(t.TempDir())
	t.Run("new directories", newOwners)
	t.Run("directories that are there", ownersThere)
	t.Run("files of others", ownersOfOthers)
	t.Run("report", ownersOfReports)
}

func runAsSudo(t *testing.T, args ...string) {
	t.Helper()
	out := append([]string{"run", "quickstart", "--engine", "model", "--set", "duration=1ms"}, args...)
	if code := execute(t.Context(), out, io.Discard, io.Discard); code == exitFailed || code == exitBadInput {
		t.Fatalf("%v: exit code %d", out, code)
	}
}

func owned(t *testing.T, path string, want uint32) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
		t.Errorf("%s belongs to %d, want %d", path, got, want)
	}
}

func newOwners(t *testing.T) {
	runAsSudo(t, "--out", "new/result", "--junit", "new.xml")
	owned(t, "new", sudoer)
	owned(t, "new/result/variants", sudoer)
	owned(t, "new.xml", sudoer)
}

func ownersThere(t *testing.T) {
	for _, dir := range []string{"there", "results"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("there.xml", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	runAsSudo(t, "--out", "there", "--junit", "there.xml")
	owned(t, "there", 0)
	owned(t, "there.xml", 0)
	owned(t, "there/report.html", sudoer)
	runAsSudo(t)
	owned(t, "results", 0)
	made, _ := filepath.Glob("results/*")
	if len(made) != 1 {
		t.Fatalf("results are %v", made)
	}
	owned(t, made[0], sudoer)
}

// What others have put there while it ran is theirs.
func ownersOfOthers(t *testing.T) {
	if err := os.WriteFile("roots", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, _, _, err := runFake(t, t.Context(), func(_ context.Context, _ *emu.Experiment, variant string) error {
		dir := filepath.Dir(filepath.Dir(variant))
		return errors.Join(
			os.WriteFile(filepath.Join(dir, "notes"), nil, 0o666), os.Chown(filepath.Join(dir, "notes"), other, other),
			os.Link("roots", filepath.Join(dir, "linked")), os.Mkdir(filepath.Join(variant, "mine"), 0o700))
	})
	if exitCode(err) != exitInvalid { // the second variant has no logs
		t.Fatal(err)
	}
	owned(t, filepath.Join(dir, "notes"), other)
	owned(t, "roots", 0)
	owned(t, filepath.Join(dir, "variants/second/mine"), 0)
	for _, name := range []string{
		"", "scenario.yaml", "scenario.json", "checksums.json", "variants", "variants/third", "variants/third/hosts",
		"variants/third/hosts/h1-1.rec", "variants/third/queues.rec", "summary.json", "plots", "report.html",
	} {
		owned(t, filepath.Join(dir, name), sudoer)
	}
}

// report makes its own files alone.
func ownersOfReports(t *testing.T) {
	runAsSudo(t, "--out", "result")
	if err := os.WriteFile("result/notes", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"result/notes", "result/scenario.json", "result/variants"} {
		if err := os.Chown(name, other, other); err != nil {
			t.Fatal(err)
		}
	}
	execute(t.Context(), []string{"report", "result"}, io.Discard, io.Discard)
	owned(t, "result/notes", other)
	owned(t, "result/scenario.json", other)
	owned(t, "result/variants", other)
	owned(t, "result/report.html", sudoer)
}
