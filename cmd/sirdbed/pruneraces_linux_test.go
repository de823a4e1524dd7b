package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/tree"
)

// pruneAll removes all results in a directory that may go.
func pruneAll(t *testing.T, dir string) *Pruning {
	t.Helper()
	l, err := listResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prune(l, pruneOptions{}, time.Now())
	if err != nil {
		t.Error(err)
	}
	return p
}

// A result is locked before it has its name, and stays so.
func TestAResultIsLockedBeforeItHasItsName(t *testing.T) {
	dir := emptyResult(t)
	defer syscall.Umask(syscall.Umask(0o027))
	locked := false
	release, _, err := beginResult(dir, Record{}, func(file *os.File) (*os.File, error) {
		if info, err := file.Stat(); err != nil || info.Mode() != 0o600 {
			t.Errorf("it is %v, %v, want that nobody else can open it before it is locked", info, err)
		}
		kept, err := keepLock(file)
		locked = isLocked(t, file.Name())
		if _, named := dir.Lstat(scenarioFile); !errors.Is(named, fs.ErrNotExist) {
			t.Errorf("got %v, want no %s yet", named, scenarioFile)
		}
		return kept, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if path := dir.At(scenarioFile); !locked || !isLocked(t, path) || !beingWritten(dir) {
		t.Errorf("it is locked before it has its name: %v; then: %v; want both", locked, isLocked(t, path))
	}
	if info, err := dir.Lstat(scenarioFile); err != nil || info.Mode() != 0o640 {
		t.Errorf("its mode is %v, %v, want that of other files", info.Mode(), err)
	}
	release()
	if isLocked(t, dir.At(scenarioFile)) {
		t.Error("it is locked after its release")
	}
}

// A run whose result somebody has locked first does not go on without a lock.
func TestAResultThatIsLockedAlreadyIsRefused(t *testing.T) {
	for _, c := range []struct {
		how  int16
		want error
	}{{unix.F_RDLCK, errReadLock}, {unix.F_WRLCK, errBusy}} {
		dir := emptyResult(t)
		_, noLocks, err := beginResult(dir, Record{}, func(file *os.File) (*os.File, error) {
			lockFirst(t, file.Name(), unix.F_OFD_SETLK, c.how)
			return keepLock(file)
		})
		if !errors.Is(err, c.want) || noLocks != nil {
			t.Errorf("got %v, %v, want the error %q alone", noLocks, err, c.want)
		}
		if left, err := dir.List("."); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// A file system that has no locks is no reason to refuse a run, other failures are.
func TestAResultWithoutALock(t *testing.T) {
	for _, c := range []struct {
		err     syscall.Errno
		refused bool
	}{{unix.ENOLCK, false}, {unix.EOPNOTSUPP, false}, {unix.ENOSYS, false}, {unix.EINVAL, false}, {unix.EMFILE, true}} {
		dir := emptyResult(t)
		_, noLocks, err := beginResult(dir, Record{}, func(*os.File) (*os.File, error) { return nil, c.err })
		_, none := dir.Lstat(scenarioFile)
		if c.refused != errors.Is(err, c.err) || c.refused == errors.Is(noLocks, c.err) || c.refused != (none != nil) {
			t.Errorf("%v: got %v, %v, its file: %v; want it refused: %v", c.err, noLocks, err, none, c.refused)
		}
	}
}

// Whoever may read a result can hold a read lock on it: it is not running then, and
// report and prune say what keeps them from it.
func TestAReadLockIsNoRun(t *testing.T) {
	path := made(t)
	lockFirst(t, filepath.Join(path, scenarioFile), unix.F_OFD_SETLK, unix.F_RDLCK)
	l, err := listResults(filepath.Dir(path))
	if err != nil || len(l.Results) != 1 || l.Results[0].State != Reported {
		t.Fatalf("got %+v, %v, want one result with a report", l, err)
	}
	var said bytes.Buffer
	failures := map[string]error{"report": reportAgain(path, false, resultFiles{}, &said, &said)}
	_, failures["prune"] = prune(l, pruneOptions{}, time.Now())
	want := "another process (lsof names it) holds a read lock on " + filepath.Join(path, scenarioFile) + ": "
	for command, err := range failures {
		if !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
	if said.Len() > 0 {
		t.Errorf("report wrote %q", said.String())
	}
}

// A lock of a process has its number.
func TestWhoHoldsAReadLock(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), scenarioFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if pid := lockHolder(file); pid != 0 {
		t.Errorf("it is %d, want nobody", pid)
	}
	lockFirst(t, file.Name(), unix.F_SETLK, unix.F_RDLCK)
	if pid := lockHolder(file); pid != os.Getpid() || lockedElsewhere(file) {
		t.Errorf("it is %d, want %d; a result like this is running: %v", pid, os.Getpid(), lockedElsewhere(file))
	}
}

// emptyResult is a directory for a result.
func emptyResult(t *testing.T) *tree.Dir {
	t.Helper()
	dir, err := tree.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// isLocked reports whether a file that is opened anew is locked.
func isLocked(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return lockedElsewhere(file)
}

// lockFirst locks a file by another descriptor until the test is over.
func lockFirst(t *testing.T, path string, command int, how int16) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	lock := byteLock(0)
	lock.Type = how
	if err := unix.FcntlFlock(file.Fd(), command, &lock); err != nil {
		t.Fatal(err)
	}
}

// A report that begins when prune has listed the result keeps it; prune then takes it.
func TestPruneSparesAResultThatIsBeingWritten(t *testing.T) {
	path := made(t)
	l, err := listResults(filepath.Dir(path))
	if err != nil || len(l.Results) != 1 || l.Results[0].State != Reported {
		t.Fatalf("got %+v, %v, want one result with a report", l, err)
	}
	unlock := lockedResult(t, path)
	p, err := prune(l, pruneOptions{}, time.Now())
	if err != nil || len(p.Removed) > 0 || len(p.Spared) != 1 || p.Spared[0].Reason != "it "+errBusy.Error() {
		t.Errorf("got %+v, %v, want it left alone", p, err)
	}
	unlock()
	if p := pruneAll(t, filepath.Dir(path)); len(p.Removed) != 1 {
		t.Errorf("got %+v, want it removed", p)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no result", err)
	}
}
