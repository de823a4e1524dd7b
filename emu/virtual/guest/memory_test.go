//go:build linux

package guest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// requireOwnMemory skips where user namespaces, or huge pages, are refused.
func requireOwnMemory(t *testing.T) *os.File {
	t.Helper()
	own, err := ownMemory()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { own.Close() })
	return own
}

// A guest's own memory is in no mount namespace, has what a kernel needs, and can
// be handed to a process that was given nothing else.
func TestOwnMemory(t *testing.T) {
	before, _ := os.ReadFile("/proc/self/mountinfo")
	own := requireOwnMemory(t)
	root := fdPath(int(own.Fd()))
	if err := usable(root, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := usable(root, 1<<60); err == nil || !strings.Contains(err.Error(), "MB free") {
		t.Errorf("of a huge guest: got %v, want that there is too little room", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Errorf("type %#x (%v), want a tmpfs", fs.Type, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || !bytes.Equal(mounts, before) {
		t.Errorf("mounted (%v):\n%s\nbefore:\n%s", err, mounts, before)
	}
	s := &scratch{dir: ownDirIn(t, t.TempDir()), own: own}
	cmd := exec.Command("/bin/sh", "-c", `pwd; echo "$HOME"; echo x > "$TMPDIR/file" && cat "$TMPDIR/file"`)
	s.configure(cmd)
	out, err := cmd.CombinedOutput()
	if want := s.dir.path() + "\n" + s.dir.path() + "\nx\n"; err != nil || string(out) != want {
		t.Errorf("got %q (%v), want %q", out, err, want)
	}
}

// An ordinary user gets it by way of a user namespace.
func TestBorrowedMemory(t *testing.T) {
	own, err := borrowMemory()
	if err != nil {
		t.Skip(err)
	}
	defer own.Close()
	if err := usable(fdPath(int(own.Fd())), 64<<20); err != nil {
		t.Error(err)
	}
}

// A TMPDIR that the user has set has room for the memory; otherwise it is the guest's own
// where that is possible.
func TestFindPlace(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	s, err := newScratch(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if s.own != nil || !strings.HasPrefix(s.dir.path(), parent+"/") {
		t.Errorf("got %s, want a directory in %s", s.dir.path(), parent)
	}
	cmd := exec.Command("true")
	s.configure(cmd)
	if want := "TMPDIR=" + s.dir.path(); cmd.Env[0] != want {
		t.Errorf("got %q, want %q first", cmd.Env, want)
	}
	s.dir.remove()
	s.close()
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v, want nothing", left)
	}

	t.Setenv("TMPDIR", "")
	if s, err = newScratch(1 << 20); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	defer s.dir.remove()
	if (s.own != nil) != (ProbeHugePages() == nil) {
		t.Errorf("own memory: %v, want it where huge pages work: %v", s.own, ProbeHugePages())
	}
	if _, err := newScratch(1 << 60); err == nil || !strings.Contains(err.Error(), "set TMPDIR to one with") {
		t.Errorf("of a huge guest: got %v, want that there is too little room", err)
	}
}

// Arguments that are no part of a guest are the user's; roles want what they need.
func TestPart(t *testing.T) {
	for _, args := range [][]string{nil, {"run"}, {"run", cleanerArgument}} {
		if _, ok := Role(args); ok {
			t.Errorf("%q is a role, want it to be the user's", args)
		}
	}
	for _, name := range []string{initArgument, cleanerArgument} {
		if be, ok := Role([]string{name}); !ok || be() == nil {
			t.Errorf("%s does without its directory, want it to fail", name)
		}
	}
}

// A full disk is named as the one that it is, not as that of results.
func TestExplainRoom(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/proc/self/fd/18/init", Err: unix.ENOSPC}
	err := explainRoom("/dev/shm", errors.Join(full, nil))
	if text := err.Error(); !strings.Contains(text, "in /dev/shm: free some there, or set TMPDIR") ||
		strings.Contains(text, "no space left") {
		t.Errorf("got %v", err)
	}
	other := errors.New("another")
	if got := explainRoom("/dev/shm", other); got != other {
		t.Errorf("got %v, want the error itself", got)
	}
}

// Without memory in the scratch directory there still has to be room for files.
func TestFilesRoom(t *testing.T) {
	program, err := os.Stat("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if got := filesRoom(); got <= program.Size() {
		t.Errorf("files are to have %d bytes, and the program alone has %d", got, program.Size())
	}
}
