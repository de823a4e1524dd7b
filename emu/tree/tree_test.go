//go:build unix

package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in returns a directory with a link out of it, one inside, a pipe, a device and a
// file, beside one that is not to be touched.
func in(t *testing.T) (dir *Dir, outside string) {
	t.Helper()
	temp := t.TempDir()
	outside, inside := filepath.Join(temp, "outside"), filepath.Join(temp, "inside")
	for _, made := range []string{outside, inside} {
		must(t, os.Mkdir(made, 0o777))
		must(t, os.WriteFile(filepath.Join(made, "file"), []byte("text"), 0o666))
	}
	must(t, errors.Join(
		os.Symlink("../outside/file", filepath.Join(inside, "out")),
		os.Symlink("file", filepath.Join(inside, "in")),
		os.Symlink("../outside", filepath.Join(inside, "out-dir")),
		os.Symlink("/dev/zero", filepath.Join(inside, "endless")),
		syscall.Mkfifo(filepath.Join(inside, "pipe"), 0o666),
	))
	dir, err := Open(inside)
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir, outside
}

// hostile are the names of in that lead out, block or have no end.
var hostile = []string{"out", "in", "out-dir", "out-dir/file", "endless", "pipe", "../outside/file", "/etc/passwd"}

// soon fails a test if something blocks.
func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s blocks", what)
	}
}

func TestOnlyFilesInsideAreOpened(t *testing.T) {
	dir, _ := in(t)
	for _, name := range append([]string{"."}, hostile...) {
		soon(t, name, func() {
			if _, err := dir.Read(name); err == nil {
				t.Errorf("%s is read, want an error", name)
			}
			if _, err := dir.Edit(name); err == nil {
				t.Errorf("%s is opened for writing, want an error", name)
			}
			if name == "." {
				return
			}
			if _, err := dir.Sub(name); err == nil {
				t.Errorf("%s is opened as a directory, want an error", name)
			}
		})
	}
	if text, err := dir.Read("file"); err != nil || string(text) != "text" {
		t.Errorf("got %q, %v, want the file's text", text, err)
	}
}

func TestWhatAUserNamesIsOpenedWithoutWaiting(t *testing.T) {
	dir, _ := in(t)
	for name, want := range map[string]bool{
		"file": true, "in": true, "out": true, "pipe": false, "endless": false, "out-dir": false,
	} {
		soon(t, name, func() {
			_, err := ReadFile(dir.At(name))
			if err != nil && !strings.HasSuffix(err.Error(), ": want a regular file") {
				t.Errorf("%s: got %v, want to be told what to do", name, err)
			}
			if (err == nil) != want {
				t.Errorf("%s: got %v, want it read: %v", name, err, want)
			}
		})
	}
	soon(t, "pipe", func() {
		if _, err := Open(dir.At("pipe")); err == nil {
			t.Error("a pipe is opened as a directory, want an error")
		}
	})
}

// Whatever has a name, what is written is a new file or nothing.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	dir, outside := in(t)
	for _, name := range hostile {
		soon(t, name, func() {
			if _, err := dir.Create(name); err == nil {
				t.Errorf("%s is made, want an error", name)
			}
			if _, err := dir.Make(name); err == nil {
				t.Errorf("%s is made as a directory, want an error", name)
			}
			err := dir.WriteText(name, []byte("new"))
			if strings.Contains(name, "/") {
				if err == nil {
					t.Errorf("%s is written, want an error", name)
				}
				return
			}
			must(t, err)
			if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s is %v, %v, want a regular file", name, info, err)
			}
		})
	}
	must(t, os.Symlink("../outside/file", dir.At("x.part")))
	must(t, dir.WriteText("x", []byte("new")))
	entries, err := os.ReadDir(outside)
	text, err2 := os.ReadFile(filepath.Join(outside, "file"))
	if err != nil || err2 != nil || len(entries) != 1 || string(text) != "text" {
		t.Errorf("outside is %v with %q, %v, %v, want one file as it was", entries, text, err, err2)
	}
}

// A directory stays the one that was opened, whoever puts another into its place.
func TestADirectoryThatIsReplacedIsNotFollowed(t *testing.T) {
	dir, outside := in(t)
	must(t, os.Rename(dir.Path(), dir.Path()+".away"))
	must(t, os.Symlink(outside, dir.Path()))
	must(t, dir.WriteText("new", nil))
	if _, err := os.Lstat(filepath.Join(outside, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is written outside (%v)", err)
	}
	if _, err := os.Lstat(dir.Path() + ".away/new"); err != nil {
		t.Error(err)
	}
}

func TestMakeMakesWhatIsMissing(t *testing.T) {
	temp := t.TempDir()
	for _, path := range []string{"a/b/c", "a/b/c", "a/b/d/", "."} {
		dir, err := Make(filepath.Join(temp, path))
		must(t, err)
		must(t, dir.Close())
	}
	if _, err := os.Stat(filepath.Join(temp, "a/b/d")); err != nil {
		t.Error(err)
	}
	must(t, os.WriteFile(filepath.Join(temp, "file"), nil, 0o666))
	must(t, os.Symlink("nowhere", filepath.Join(temp, "dangling")))
	for _, path := range []string{"file", "file/x", "dangling", "dangling/x"} {
		if _, err := Make(filepath.Join(temp, path)); err == nil {
			t.Errorf("%s is made, want an error", path)
		}
	}
}

// Errors have the path of what they are about.
func TestErrorsNameTheFile(t *testing.T) {
	dir, _ := in(t)
	_, open := dir.Open("none")
	_, create := dir.Create("file")
	_, sub := dir.Sub("none")
	_, made := dir.Make("file")
	for name, err := range map[string]error{
		"none": open, "file": create, "none ": sub, "file ": made, "no": dir.WriteText("no/file", nil),
		"value": dir.WriteJSON("value", func() {}), "gone": dir.Remove("gone"), "from": dir.Rename("from", "from2"),
	} {
		if want := dir.At(strings.TrimSpace(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}

// Under sudo what is made is the user's, and nothing else is.
func TestOwn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	const user = 12345
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "12345")
	temp := t.TempDir()
	must(t, os.WriteFile(filepath.Join(temp, "roots"), nil, 0o600))
	dir, err := Make(filepath.Join(temp, "new/dir"))
	must(t, err)
	defer dir.Close()
	file, err := dir.Create("log")
	must(t, err)
	file.Close()
	must(t, dir.WriteText("text", nil))
	must(t, os.Link(filepath.Join(temp, "roots"), dir.At("roots")))
	must(t, os.Symlink("../../roots", dir.At("link")))
	must(t, os.WriteFile(dir.At("another's"), nil, 0o666))
	must(t, os.Chown(dir.At("another's"), 23456, 23456))
	must(t, os.MkdirAll(dir.At("guest"), 0o777))
	must(t, os.WriteFile(dir.At("guest/log"), nil, 0o666))
	check := func(when string, want map[string]uint32) {
		t.Helper()
		for name, uid := range want {
			info, err := os.Lstat(filepath.Join(temp, name))
			must(t, err)
			if got := info.Sys().(*syscall.Stat_t).Uid; got != uid {
				t.Errorf("%s %s belongs to %d, want %d", when, name, got, uid)
			}
		}
	}
	check("as made", map[string]uint32{
		".": 0, "roots": 0, "new": user, "new/dir": user, "new/dir/log": user, "new/dir/text": user, "new/dir/guest": 0,
	})
	dir.OwnAll()
	check("after a guest", map[string]uint32{
		".": 0, "roots": 0, "new/dir/roots": 0, "new/dir/link": 0, "new/dir/another's": 23456,
		"new/dir/guest": user, "new/dir/guest/log": user,
	})
}
