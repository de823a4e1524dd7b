//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bench is a cache, a tarball of a Linux in one file, and tools that pretend:
// make configures as asked and compiles a kernel of one line. What a tool does
// besides, a test decides.
type bench struct {
	t      *testing.T
	cache  Cache
	source string
	tools  string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t, Cache(filepath.Join(dir, "cache", "kernel")), "", filepath.Join(dir, "tools")}
	if err := os.Mkdir(b.tools, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/usr/include/stdio.h"); err != nil {
		t.Skip(err) // a build says so, see TestMissingTools
	}
	for _, name := range []string{"tar", "xz", "sh", "cat", "cp", "sleep", "gzip", "mkdir", "echo", "rm", "touch"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(b.tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"patch", "gcc", "flex", "bison", "bc"} {
		b.tool(name, "exit 0")
	}
	b.make("")
	t.Setenv("PATH", b.tools)
	b.source = b.tarball(Version+".99", "a")
	return b
}

func (b *bench) tool(name, script string) {
	b.t.Helper()
	path := filepath.Join(b.tools, name)
	os.Remove(path)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

// make is a make that does something before it compiles.
func (b *bench) make(before string) {
	b.tool("make", `case "$*" in
*allnoconfig*) { echo; cat .sirdbed-config; } > .config ;;
*) `+before+`
echo CC a; echo CC b; echo "$PWD" > linux; touch compiled ;;
esac`)
}

// tarball makes a source that calls itself of a version, with a file of filler.
func (b *bench) tarball(version, filler string) string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "linux-"+version)
	part := strings.Split(version, ".")
	makefile := fmt.Sprintf("VERSION = %s\nPATCHLEVEL = %s\nSUBLEVEL = %s\n", part[0], part[1], part[2])
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o644),
		os.WriteFile(filepath.Join(dir, "filler"), []byte(filler), 0o644))
	if err != nil {
		b.t.Fatal(err)
	}
	path := dir + ".tar.xz"
	if out, err := exec.Command("tar", "cJf", path, "-C", filepath.Dir(dir),
		filepath.Base(dir)).CombinedOutput(); err != nil {
		b.t.Fatalf("%v %s", err, out)
	}
	return path
}

// build builds and returns the steps taken.
func (b *bench) build(o Options) (Built, string, error) {
	var steps []string
	o.Step = func(text string) { steps = append(steps, text) }
	if o.Source == "" {
		o.Source = b.source
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	built, _, err := b.cache.Build(ctx, o)
	return built, strings.Join(steps, "\n"), err
}

// has fails unless the cache has just these files and directories.
func (b *bench) has(want ...string) {
	b.t.Helper()
	var names []string
	entries, _ := os.ReadDir(string(b.cache))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		b.t.Errorf("the cache has %q, want %q", names, want)
	}
}

func TestBuild(t *testing.T) {
	b := newBench(t)
	verified := ""
	var counts []int
	built, steps, err := b.build(Options{
		Verify:   func(path string) error { verified = path; return nil },
		Compiled: func(n, of int) { counts = append(counts, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := Version + ".99-" + hash()
	if built.Path != filepath.Join(string(b.cache), dir, "linux") || !built.Current || built.Version != Version+".99" {
		t.Errorf("built %+v, want the current one in %s", built, dir)
	}
	if verified != filepath.Join(string(b.cache), "build", "linux") || len(counts) == 0 || counts[len(counts)-1] != 2 {
		t.Errorf("verified %q, counted %v; want the one that was built, and 2 at last", verified, counts)
	}
	if !strings.Contains(steps, "unpacking "+b.source) || !strings.Contains(steps, "compiling Linux "+Version+".99") {
		t.Errorf("want unpacking and compiling among the steps:\n%s", steps)
	}
	b.has(dir, "build.log", "lock")
	// Once more there is nothing to do, even without the source.
	if _, steps, err := b.build(Options{}); err != nil || steps != "" {
		t.Errorf("again: %v, steps %q; want none", err, steps)
	}
	if found, err := b.cache.Find(); err != nil || found.Path != built.Path {
		t.Errorf("found %+v (%v), want %s", found, err, built.Path)
	}
	if _, steps, err := b.build(Options{Force: true}); err != nil || !strings.Contains(steps, "unpacking") {
		t.Errorf("forced: %v, steps %q; want it unpacked again", err, steps)
	}
}

// What is wrong with a source is said, with what to do, and nothing stays.
func TestWrongSources(t *testing.T) {
	b := newBench(t)
	garbage := filepath.Join(t.TempDir(), "garbage.tar.xz")
	whole, err := os.ReadFile(b.tarball(Version+".99", strings.Repeat("0123456789 random ", 5000)))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.tar.xz")
	empty := filepath.Join(t.TempDir(), "empty.tar")
	err = errors.Join(os.WriteFile(garbage, []byte("not a tarball at all"), 0o644),
		os.WriteFile(cut, whole[:len(whole)/2], 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "cf", empty, "-T", "/dev/null").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for source, want := range map[string][]string{
		filepath.Join(t.TempDir(), "none"): {"the kernel's source:", "no such file"},
		t.TempDir():                        {"is no file: name a tarball"},
		garbage: {"garbage.tar.xz is no whole tarball: fetch it again, or name another with " +
			"--source"},
		cut:                      {"cut.tar.xz is no whole tarball"},
		empty:                    {"is not a source of Linux: name one of Linux " + Version},
		b.tarball("5.10.7", "a"): {"is Linux 5.10.7: name a source of Linux " + Version + " with --source"},
	} {
		_, _, err := b.build(Options{Source: source})
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in %v", source, w, err)
			}
		}
		if b.cache.Unfinished() {
			t.Errorf("%s: a tree is left, want none", source)
		}
	}
	b.tool("patch", "echo Hunk 1 FAILED; exit 1")
	if _, _, err := b.build(Options{}); err == nil || !strings.Contains(err.Error(), "Hunk 1 FAILED") ||
		!strings.Contains(err.Error(), "name such a source with --source") || b.cache.Unfinished() {
		t.Errorf("patch: got %v, want the failure, what to do, and no tree left", err)
	}
	b.tool("patch", "exit 0")
	b.tool("make", "touch .config")
	if _, _, err := b.build(Options{}); err == nil || !strings.Contains(err.Error(),
		"this source does not take CONFIG_") || b.cache.Unfinished() {
		t.Errorf("configuration: got %v, want the option that is not taken, and no tree left", err)
	}
}

func TestMissingTools(t *testing.T) {
	b := newBench(t)
	os.Remove(filepath.Join(b.tools, "flex"))
	os.Remove(filepath.Join(b.tools, "xz"))
	_, _, err := b.build(Options{})
	if err == nil || !strings.Contains(err.Error(), "takes xz, flex: install what is missing") ||
		!strings.Contains(err.Error(), "apt-get install xz-utils flex") {
		t.Errorf("got %v, want what is missing, and the packages that have it", err)
	}
	b.has("lock")
}

// Failures of the compiler and of the boot are reported with their standard error.
func TestFailedBuilds(t *testing.T) {
	b := newBench(t)
	b.make("echo a.c:1: error: no such thing >&2; exit 2")
	if _, _, err := b.build(Options{}); err == nil || !strings.Contains(err.Error(), "error: no such thing") ||
		!strings.Contains(err.Error(), b.cache.Log()) {
		t.Errorf("got %v, want the compiler's error and where the log is", err)
	}
	b.make("")
	if _, _, err := b.build(Options{Verify: func(string) error { return errors.New("it says nothing") }}); err == nil ||
		!strings.Contains(err.Error(), "was built, but does not work: it says nothing") {
		t.Errorf("got %v, want that it was built and does not work", err)
	}
	if _, err := b.cache.Find(); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("found: %v, want %v", err, ErrNotBuilt)
	}
}

// A full disk is said to be one, and what filled it goes.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	b.make("echo as: BFD: No space left on device >&2; exit 2")
	_, _, err := b.build(Options{})
	if err == nil || !strings.Contains(err.Error(), "is full: building the kernel takes 1024 MB there, so free some, "+
		"or set XDG_CACHE_HOME") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line that says that the disk is full", err)
	}
	b.has("build.log", "lock")
}
