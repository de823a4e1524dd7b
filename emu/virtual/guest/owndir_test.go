//go:build linux

package guest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// parentDir opens a directory for a test.
func parentDir(t *testing.T, path string) *os.File {
	t.Helper()
	parent, err := openParent(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { parent.Close() })
	return parent
}

// ownDirIn makes a scratch directory for a test.
func ownDirIn(t *testing.T, parent string) *ownDir {
	t.Helper()
	d, err := makeOwnDir(parentDir(t, parent))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// sweeps sweeps a directory, and fails if that does not end.
func sweeps(t *testing.T, parent string) {
	t.Helper()
	done := make(chan bool)
	go func() { sweep(parentDir(t, parent)); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the sweep hangs")
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// A sweep removes this user's own directories that nobody has locked, at once, and
// whatever is in them; it follows no link, waits for no pipe, and leaves all alone
// that may be another's.
func TestSweep(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	precious := filepath.Join(outside, "precious")
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(parent, dirPrefix+name) }
	try(os.WriteFile(precious, nil, 0o600))
	for _, name := range []string{"left", "fifo", "links"} {
		try(os.Mkdir(at(name), 0o700))
	}
	try(os.MkdirAll(filepath.Join(at("left"), "a", "b"), 0o700))
	try(unix.Mkfifo(filepath.Join(at("fifo"), "lock"), 0o600))
	try(os.Symlink(precious, filepath.Join(at("links"), "lock")))
	try(os.Symlink(outside, filepath.Join(at("links"), "dir")))

	inUse := ownDirIn(t, parent)
	want := []string{inUse.name}
	keep := func(name string) { want = append(want, dirPrefix+name) }
	try(os.Symlink(outside, at("link")))
	keep("link")
	try(unix.Mkfifo(at("pipe"), 0o600))
	keep("pipe")
	try(os.WriteFile(at("file"), nil, 0o600))
	keep("file")
	try(os.Mkdir(at("open-to-others"), 0o700))
	try(os.Chmod(at("open-to-others"), 0o770))
	keep("open-to-others")
	try(os.Mkdir(filepath.Join(parent, "other"), 0o700))
	want = append(want, "other")
	if os.Geteuid() == 0 {
		try(os.Mkdir(at("foreign"), 0o700))
		try(os.Chown(at("foreign"), 12345, 12345))
		keep("foreign")
	}
	sweeps(t, parent)
	slices.Sort(want)
	if got := names(t, parent); !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
	if got := names(t, outside); !slices.Equal(got, []string{"precious"}) {
		t.Errorf("where links led there is %q, want what was there", got)
	}
}

// When a process and its cleaner are killed at once the directory stays, until the
// next guest is started.
func TestKilledWithItsCleaner(t *testing.T) {
	parent := t.TempDir()
	cmd, dir, cleaner := maker(t, parent)
	if err := syscall.Kill(cleaner, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("nothing is left to sweep: %v", err)
	}
	t.Setenv("TMPDIR", parent)
	s, err := newScratch(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if got := names(t, parent); !slices.Equal(got, []string{s.dir.name}) {
		t.Errorf("there is %q, want the new guest's %s alone", got, s.dir.name)
	}
}

// However often others sweep, a new directory is locked and there.
func TestMakingAndSweepingAtOnce(t *testing.T) {
	parent := t.TempDir()
	stop := make(chan bool)
	var sweeper sync.WaitGroup
	defer sweeper.Wait()
	defer close(stop)
	for range 2 {
		p := parentDir(t, parent)
		sweeper.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					sweep(p)
				}
			}
		})
	}
	for range 300 {
		d := ownDirIn(t, parent)
		if err := d.root.WriteFile("file", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(d.path(), "file")); err != nil {
			t.Fatalf("a directory in use was swept: %v", err)
		}
		d.close()
	}
}

// A cleaner removes what a sweep would, and nothing else.
func TestCleanerIsPicky(t *testing.T) {
	parent := t.TempDir()
	if err := os.MkdirAll(filepath.Join(parent, "precious", "thing"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"precious", parent + "/precious", dirPrefix + "/../precious", "."} {
		if d, err := openOwnDir(parentDir(t, parent), name); err == nil {
			d.close()
			t.Errorf("%q is opened as a scratch directory", name)
		}
	}
	d := ownDirIn(t, parent)
	if _, err := openOwnDir(parentDir(t, parent), d.name); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("a directory in use: got %v, want %v", err, unix.EWOULDBLOCK)
	}
}
