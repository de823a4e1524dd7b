package guest

import (
	"bytes"
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

// A guest's own memory is in no mount namespace, holds what a kernel needs, and can
// be handed to a process that was given nothing else.
func TestOwnMemory(t *testing.T) {
	before, _ := os.ReadFile("/proc/self/mountinfo")
	own := requireOwnMemory(t)
	root := handle(int(own.Fd()))
	if err := suits(root, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := suits(root, 1<<60); err == nil || !strings.Contains(err.Error(), "MB free") {
		t.Errorf("of a huge guest: %v", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Errorf("type %#x, %v", fs.Type, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || !bytes.Equal(mounts, before) {
		t.Errorf("mounted (%v):\n%s\nbefore:\n%s", err, mounts, before)
	}
	p := &place{dir: t.TempDir(), own: own}
	cmd := exec.Command("/bin/sh", "-c", `pwd; echo "$HOME"; echo x > "$TMPDIR/file" && cat "$TMPDIR/file"`)
	p.hand(cmd)
	out, err := cmd.CombinedOutput()
	if want := p.dir + "\n" + p.dir + "\nx\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v", out, err)
	}
}

// An ordinary user gets it by way of a user namespace.
func TestBorrowedMemory(t *testing.T) {
	own, err := borrowMemory()
	if err != nil {
		t.Skip(err)
	}
	defer own.Close()
	if err := suits(handle(int(own.Fd())), 64<<20); err != nil {
		t.Error(err)
	}
}

// A TMPDIR that the user has set holds the memory; otherwise it is the guest's own
// where that is possible.
func TestFindPlace(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	p, err := findPlace(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if p.own != nil || !strings.HasPrefix(p.dir, parent+"/") {
		t.Errorf("%+v", p)
	}
	cmd := exec.Command("true")
	p.hand(cmd)
	if want := "TMPDIR=" + p.dir; cmd.Env[0] != want {
		t.Errorf("%q, not %q", cmd.Env, want)
	}
	p.close()
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v", left)
	}

	t.Setenv("TMPDIR", "")
	if p, err = findPlace(1 << 20); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if (p.own != nil) != (ProbeHugePages() == nil) {
		t.Errorf("own memory: %v, %v", p.own, ProbeHugePages())
	}
	if _, err := findPlace(1 << 60); err == nil || !strings.Contains(err.Error(), "set TMPDIR to one with") {
		t.Errorf("of a huge guest: %v", err)
	}
}

// Arguments that are no part of a guest are the user's; parts want what they need.
func TestPart(t *testing.T) {
	for _, args := range [][]string{nil, {"run"}, {"run", keeperArgument}} {
		if _, ok := Part(args); ok {
			t.Errorf("%q is a part", args)
		}
	}
	for _, name := range []string{initArgument, keeperArgument} {
		if be, ok := Part([]string{name}); !ok || be() == nil {
			t.Errorf("%s does without its directory", name)
		}
	}
}
