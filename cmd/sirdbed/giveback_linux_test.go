package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sirdbed/emu"
)

// What a run under sudo makes is the user's, and nothing else is.
func TestOwnersUnderSudo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	const user, other = 12345, 23456
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "12345")
	temp := t.TempDir()
	t.Chdir(temp)
	run := func(args ...string) {
		t.Helper()
		out := append([]string{"run", "quickstart", "--engine", "model", "--set", "duration=1ms"}, args...)
		if code := execute(t.Context(), out, os.Stdout, os.Stderr); code == exitFailed || code == exitBadInput {
			t.Fatalf("%v: exit code %d", out, code)
		}
	}
	owned := func(path string, want uint32) {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
			t.Errorf("%s belongs to %d, want %d", path, got, want)
		}
	}

	run("--out", "new/result", "--junit", "new.xml")
	owned("new", user)
	owned("new/result/variants", user)
	owned("new.xml", user)

	for _, dir := range []string{"there", "results"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("there.xml", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	run("--out", "there", "--junit", "there.xml")
	owned("there", 0)
	owned("there.xml", 0)
	owned("there/report.html", user)
	run()
	owned("results", 0)
	made, _ := filepath.Glob("results/*")
	if len(made) != 1 {
		t.Fatalf("results are %v", made)
	}
	owned(made[0], user)

	// What others have put there while it ran is theirs.
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
	owned(filepath.Join(dir, "notes"), other)
	owned("roots", 0)
	owned(filepath.Join(dir, "variants/second/mine"), 0)
	for _, name := range []string{
		"", "scenario.yaml", "scenario.json", "checksums.json", "variants", "variants/third", "variants/third/hosts",
		"variants/third/hosts/h1-1.rec", "variants/third/queues.rec", "summary.json", "plots", "report.html",
	} {
		owned(filepath.Join(dir, name), user)
	}

	// report makes its own files alone.
	if err := os.WriteFile("there/notes", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"there/notes", "there/scenario.json", "there/variants"} {
		if err := os.Chown(name, other, other); err != nil {
			t.Fatal(err)
		}
	}
	execute(t.Context(), []string{"report", "there"}, os.Stdout, os.Stderr)
	owned("there/notes", other)
	owned("there/scenario.json", other)
	owned("there/variants", other)
	owned("there/report.html", user)
}
