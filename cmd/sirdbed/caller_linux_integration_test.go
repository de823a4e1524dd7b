//go:build linux && !portable

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sirdbed/emu/sudo"
)

// An underSudo is sirdbed as user nobody has called it by sudo.
type underSudo struct {
	t        *testing.T
	path     string
	dir      string // nobody's
	uid, gid int
	env      []string
}

func callBySudo(t *testing.T) *underSudo {
	t.Helper()
	if !sudo.Root() {
		t.Skip("only root can be called by sudo")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	u := &underSudo{t: t}
	u.uid, _ = strconv.Atoi(nobody.Uid)
	u.gid, _ = strconv.Atoi(nobody.Gid)
	// t.TempDir's parent is closed to other users.
	if u.dir, err = os.MkdirTemp("", "sirdbed-test-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(u.dir) })
	if u.path, err = buildProgram(); err != nil {
		t.Fatal(err)
	}
	u.own(u.dir)
	u.env = append(os.Environ(), "SUDO_UID="+nobody.Uid, "SUDO_GID="+nobody.Gid, "SUDO_USER=nobody",
		"XDG_CACHE_HOME="+filepath.Join(u.dir, "cache"))
	return u
}

func (u *underSudo) own(path string) {
	u.t.Helper()
	if err := os.Chown(path, u.uid, u.gid); err != nil {
		u.t.Fatal(err)
	}
}

func (u *underSudo) run(dir string, args ...string) (exit int, said string) {
	cmd := exec.CommandContext(u.t.Context(), u.path, args...)
	cmd.Dir, cmd.Env = dir, u.env
	out, err := cmd.CombinedOutput()
	return code(err), string(out)
}

// owns fails unless all below a path is nobody's.
func (u *underSudo) owns(path string) {
	u.t.Helper()
	files := 0
	err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files++
		info, err := os.Lstat(path)
		if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != u.uid {
			u.t.Errorf("%s belongs to user %d, want %d", path, info.Sys().(*syscall.Stat_t).Uid, u.uid)
		}
		return err
	})
	if err != nil || files < 2 {
		u.t.Errorf("%s has %d files (%v)", path, files, err)
	}
}

// Under sudo what needs no root runs as the user who called it: it writes where that
// user may, and all that it makes is that user's.
func TestUnderSudo(t *testing.T) {
	u := callBySudo(t)
	t.Run("model", func(t *testing.T) {
		u.t = t
		if code, said := u.run(u.dir, "run", "quickstart", "--engine", "model"); code != exitFine {
			t.Fatalf("exit code %d\n%s", code, said)
		}
		u.owns(filepath.Join(u.dir, "results"))
	})
	t.Run("results where only root writes", func(t *testing.T) {
		u.t = t
		dir := t.TempDir()
		for _, engine := range []string{"model", "virtual"} {
			code, said := u.run(dir, "run", "quickstart", "--engine", engine)
			if want := dir + "/results: under sudo the engine " + engine + " runs as the user who called it, and " +
				"nobody may not write there"; code != exitBadInput || !strings.Contains(said, want) {
				t.Errorf("exit code %d: %s, want %q", code, said, want)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "results")); err == nil {
			t.Error("there are results")
		}
	})
	t.Run("kernel build", func(t *testing.T) {
		u.t = t
		source := filepath.Join(u.dir, "garbage.tar.xz")
		if err := os.WriteFile(source, []byte("garbage"), 0o644); err != nil {
			t.Fatal(err)
		}
		u.run(u.dir, "kernel", "build", "--source", source)
		u.owns(filepath.Join(u.dir, "cache"))
	})
	t.Run("virtual", func(t *testing.T) {
		u.t = t
		built, err := haveKernel(t)
		if err != nil {
			t.Skip(err)
		}
		text, err := os.ReadFile(built.Path)
		if err != nil {
			t.Fatal(err)
		}
		kernel := filepath.Join(u.dir, "linux")
		if err := os.WriteFile(kernel, text, 0o755); err != nil {
			t.Fatal(err)
		}
		u.own(kernel) // root would not execute it
		u.env = append(u.env, kernelVar+"="+kernel)
		code, said := u.run(u.dir, "run", "quickstart", "--engine", "virtual", "--set", "duration=1ms",
			"--out", "virtual")
		if code != exitFine && code != exitUnmet {
			t.Fatalf("exit code %d\n%s", code, said)
		}
		u.owns(filepath.Join(u.dir, "virtual"))
	})
}

// Root in its own right executes no kernel that another user may change, and builds
// none where another could.
func TestRootDoesNotExecuteOthersKernels(t *testing.T) {
	u := callBySudo(t)
	u.env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(u.dir, "cache"))
	const want = "as root sirdbed executes only what root alone can change"
	kernel := filepath.Join(u.dir, "linux")
	if err := os.WriteFile(kernel, []byte("#!/bin/sh\ntouch "+u.dir+"/executed\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"kernel", "build", "--source", kernel},
		{"run", "quickstart", "--engine", "virtual", "--out", filepath.Join(u.dir, "out")},
		{"kernel", "status"}, {"kernel", "exec", "true"},
	} {
		if args[1] != "build" {
			u.env = append(u.env, kernelVar+"="+kernel)
		}
		code, said := u.run(u.dir, args...)
		if code != exitFailed || !strings.Contains(said, want) {
			t.Errorf("%v: exit code %d: %s, want %q", args, code, said, want)
		}
		if mend := "which " + kernelVar + " names"; strings.Contains(said, mend) != (args[1] != "build") {
			t.Errorf("%v: %s, want what to do where the variable names the kernel: %q", args, said, mend)
		}
	}
	for _, name := range []string{"executed", "out"} {
		if _, err := os.Stat(filepath.Join(u.dir, name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
}
