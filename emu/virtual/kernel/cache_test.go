//go:build linux

package kernel

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestUserCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	if c, err := UserCache(); err != nil || c != "/somewhere/sirdbed/kernel" {
		t.Errorf("got %s (%v), want /somewhere/sirdbed/kernel", c, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := UserCache(); err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME") {
		t.Errorf("without a home: got %v, want to be told to set XDG_CACHE_HOME", err)
	}
}

// The hash is of the configuration and the patch, of all of both.
func TestHash(t *testing.T) {
	config, patch := Config, Patch
	defer func() { Config, Patch = config, patch }()
	seen := map[string]bool{hash(): true}
	for _, change := range []func(){
		func() { Config = append([]byte("CONFIG_X=y\n"), config...) },
		func() { Patch = append(append([]byte{}, patch...), '\n') },
		func() { Config, Patch = patch, config },
		func() { Config, Patch = append(append([]byte{}, config...), patch[0]), patch[1:] },
	} {
		Config, Patch = config, patch
		change()
		if h := hash(); seen[h] || len(h) != 12 {
			t.Errorf("hash %s, want 12 digits, others than before", h)
		} else {
			seen[h] = true
		}
	}
}

// Comments are not hashed: neither those of the configuration nor the text before
// the patch's first file.
func TestHashLeavesCommentsOut(t *testing.T) {
	config, patch := Config, Patch
	defer func() { Config, Patch = config, patch }()
	want := hash()
	if !bytes.HasPrefix(diffs(patch), []byte("--- a/")) {
		t.Fatalf("the patch is taken to begin with %.40q", diffs(patch))
	}
	Config = append([]byte("# Another word.\n\n"), config...)
	Patch = append([]byte("Another word.\n\n"), patch...)
	if got := hash(); got != want {
		t.Errorf("hash %s with other comments, want %s", got, want)
	}
	Config = append([]byte("# CONFIG_X is not set\n"), config...)
	if got := hash(); got == want {
		t.Error("an option that is off is taken for a comment")
	}
}

// The patch changes files of Linux, and so has Linux's license.
func TestPatchHasALicense(t *testing.T) {
	const want = "SPDX-License-Identifier: GPL-2.0\n"
	if !bytes.HasPrefix(Patch, []byte(want)) {
		t.Errorf("the patch begins with %.60q, want %q", Patch, want)
	}
}

// put puts a kernel into the cache.
func put(t *testing.T, c Cache, version, hash string, when time.Time) Built {
	t.Helper()
	from := filepath.Join(t.TempDir(), "linux")
	text, err := os.ReadFile("/proc/self/exe") // a program
	if err := errors.Join(err, os.MkdirAll(string(c), 0o755), os.WriteFile(from, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	b, err := c.keep(Built{Version: version, Hash: hash, When: when}, from)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The kernel to use is the latest of this program's own; others, and halves of
// kernels, do not count.
func TestFind(t *testing.T) {
	c := Cache(filepath.Join(t.TempDir(), "kernel"))
	if _, err := c.Find(); !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "sirdbed kernel build") {
		t.Errorf("in nothing: got %v, want %v", err, ErrNotBuilt)
	}
	now := time.Now()
	put(t, c, "6.1", "0123456789ab", now.Add(time.Hour))
	if _, err := c.Find(); !errors.Is(err, ErrNotBuilt) ||
		!strings.Contains(err.Error(), "of another version of sirdbed") {
		t.Errorf("another's only: got %v, want %v, and whose they are", err, ErrNotBuilt)
	}
	put(t, c, "6.2", hash(), now)
	want := put(t, c, "6.3", hash(), now.Add(time.Minute))
	half := put(t, c, "6.4", hash(), now.Add(2*time.Minute))
	cut := put(t, c, "6.5", hash(), now.Add(2*time.Minute))
	if err := errors.Join(os.Remove(half.Path), os.Truncate(filepath.Join(filepath.Dir(cut.Path), "kernel.json"),
		20)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Find()
	if err != nil || got.Path != want.Path || !got.Current {
		t.Errorf("found %+v (%v), want %s", got, err, want.Path)
	}
	if list, err := c.List(); err != nil || len(list) != 3 {
		t.Errorf("listed %v (%v), want 3", list, err)
	}
}

// A kernel that a run uses stays; otherwise all goes, and once.
func TestRemove(t *testing.T) {
	c := Cache(filepath.Join(t.TempDir(), "sirdbed", "kernel"))
	if something, err := c.Remove(); something || err != nil {
		t.Errorf("removed something of nothing: %v (%v), want false", something, err)
	}
	b := put(t, c, "6.2", hash(), time.Now())
	opened, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Remove(); err == nil || !strings.Contains(err.Error(), "a run uses "+b.Path+": wait for its end") {
		t.Errorf("in use: got %v, want that a run uses it", err)
	}
	if _, err := c.Find(); err != nil {
		t.Errorf("in use, and gone: %v", err)
	}
	opened.Close()
	if something, err := c.Remove(); !something || err != nil {
		t.Errorf("removed something: %v (%v), want true", something, err)
	}
	if _, err := os.Stat(filepath.Dir(string(c))); !os.IsNotExist(err) {
		t.Errorf("its directory is left: %v", err)
	}
}

// A cache's own directory is no pattern: a neighbor that it would match is another's.
func TestCacheIsNoPattern(t *testing.T) {
	home := t.TempDir()
	neighbor := put(t, CacheIn(filepath.Join(home, "a")), "6.2", hash(), time.Now())
	for _, name := range []string{"[a]", "*", "?", `\a`, "["} {
		c := CacheIn(filepath.Join(home, name))
		if _, err := c.Find(); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("in %s: got %v, want %v", c, err, ErrNotBuilt)
		}
		want := put(t, c, "6.2", hash(), time.Now())
		if got, err := c.Find(); err != nil || got.Path != want.Path {
			t.Errorf("in %s: found %s (%v), want %s", c, got.Path, err, want.Path)
		}
		opened, err := neighbor.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Remove(); err != nil {
			t.Errorf("in %s: %v, want it removed whoever uses the neighbor's", c, err)
		}
		opened.Close()
	}
}

// A kernel that the machine's end has cut off is to be built again.
func TestOpenOfACutKernel(t *testing.T) {
	b := put(t, Cache(filepath.Join(t.TempDir(), "kernel")), "6.2", hash(), time.Now())
	if err := os.Truncate(b.Path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(); err == nil || !strings.Contains(err.Error(), "not all of one") ||
		!strings.Contains(err.Error(), "sirdbed kernel build") {
		t.Errorf("got %v, want that it is cut off, and to be told to build it", err)
	}
}

// A cache that cannot be written to is said to be one.
func TestForbiddenCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Cache(filepath.Join(file, "kernel")).lock()
	if err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME to a directory that you may write to") {
		t.Errorf("got %v, want to be told to set XDG_CACHE_HOME", err)
	}
}

// What somebody names as a kernel is a file, and opening it waits for nobody.
func TestOpenWaitsForNobody(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "linux")
	if err := unix.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() { _, err := (Built{Path: pipe}).Open(); opened <- err }()
	select {
	case err := <-opened:
		if err == nil || !strings.Contains(err.Error(), "want a regular file") {
			t.Errorf("got %v, want it refused", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe is waited for")
	}
}
