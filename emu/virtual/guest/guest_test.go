//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Parts that the test binary plays besides testing.
const (
	lockerArgument  = "test-locker"  // has a scratch directory and a cleaner, and sleeps
	claimerArgument = "test-claimer" // claims a processor, tells which, and sleeps
)

func TestMain(m *testing.M) {
	if be, ok := Role(os.Args[1:]); ok {
		if be() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case lockerArgument:
			lockAndSleep(os.Args[2])
		case claimerArgument:
			fmt.Println(claimCPU().cpu)
			time.Sleep(time.Minute)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func lockAndSleep(dir string) {
	lock, err := lockDir(dir)
	if err == nil {
		var k *cleaner
		if k, err = startCleaner(dir); err == nil {
			fmt.Println(k.cmd.Process.Pid)
			time.Sleep(time.Minute)
			lock.Close()
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// role starts the test binary in a role and returns its first line.
func role(t *testing.T, argv ...string) (cmd *exec.Cmd, line string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "/proc/self/exe", argv...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := fmt.Fscanln(out, &line); err != nil {
		t.Fatal(err)
	}
	return cmd, line
}

// gone waits until nothing is at a path.
func gone(path string) bool {
	for range 500 {
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// A cleaner removes the directory when its process is killed, not before, and
// however it is asked to end.
func TestCleanerOutlivesItsProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), dirPrefix+"x")
	if err := os.MkdirAll(filepath.Join(dir, ".uml", "guest"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd, line := role(t, lockerArgument, dir)
	cleaner, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // it is up by then, on most machines
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(cleaner, s); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("too soon: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !gone(dir) {
		t.Error("it is still there")
	}
}

// A process that ends in good order has its cleaner end too.
func TestCleanerEndsWithItsProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), dirPrefix+"x")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k, err := startCleaner(dir)
	if err != nil {
		t.Fatal(err)
	}
	k.end()
	if _, err := os.Lstat(dir); !os.IsNotExist(err) || k.cmd.ProcessState == nil || !k.cmd.ProcessState.Success() {
		t.Errorf("got %v, %v; want the directory gone and the cleaner ended well", err, k.cmd.ProcessState)
	}
}

// Only directories that are old, and that nobody has locked, are swept up.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-2 * minAge)
	for _, name := range []string{dirPrefix + "left", dirPrefix + "unlocked", dirPrefix + "locked", dirPrefix + "new",
		"other"} {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "unlocked") {
			lock, err := lockDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "locked") {
				defer lock.Close()
			} else {
				lock.Close()
			}
		}
		if !strings.HasSuffix(name, "new") {
			os.Chtimes(dir, old, old)
		}
	}
	sweep(parent)
	var names []string
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"other", dirPrefix + "locked", dirPrefix + "new"}; !slices.Equal(names, want) {
		t.Errorf("%q are left, want %q", names, want)
	}
}

// Directories that cannot have a guest's memory are refused, with the reason.
func TestSuits(t *testing.T) {
	dir := t.TempDir()
	if err := usable(dir, 1<<20); err != nil {
		t.Errorf("%s: %v", dir, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v, want nothing", left)
	}
	if err := usable(dir, 1<<60); err == nil || !strings.Contains(err.Error(), "MB free, ") {
		t.Errorf("of a huge guest: got %v, want that there is too little room", err)
	}
	for _, name := range []string{"a b", "a=b", "a,b", "a'b"} {
		odd := filepath.Join(dir, name)
		if err := os.Mkdir(odd, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := usable(odd, 1<<20); err == nil || !strings.Contains(err.Error(), "cannot take") {
			t.Errorf("%s: got %v, want that a kernel cannot take it", odd, err)
		}
	}
	if err := usable(filepath.Join(dir, "none"), 1); err == nil {
		t.Error("a directory that is not there is usable")
	}
}

// TMPDIR comes first, where it usable; where nothing does the error has every
// reason, and nothing is left.
func TestPrivateDir(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	dir, err := makeScratchDir(1 << 20)
	if err != nil || filepath.Dir(dir) != parent {
		t.Errorf("got %s (%v), want one in %s", dir, err, parent)
	}
	os.RemoveAll(dir)
	t.Setenv("TMPDIR", filepath.Join(parent, "none"))
	dir, err = makeScratchDir(1 << 20)
	if err != nil || strings.HasPrefix(dir, parent) {
		t.Errorf("without TMPDIR's: got %s (%v), want one elsewhere", dir, err)
	}
	os.RemoveAll(dir)
	t.Setenv("TMPDIR", parent)
	_, err = makeScratchDir(1 << 60)
	if err == nil || !strings.Contains(err.Error(), "set TMPDIR to one with") ||
		!strings.Contains(err.Error(), parent+": ") || !strings.Contains(err.Error(), "/dev/shm: ") {
		t.Errorf("of a huge guest: got %v, want that there is too little room", err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v, want nothing", left)
	}
}

// The job names this program where that is asked for, and tells the command
// where it is.
func TestJob(t *testing.T) {
	dir := t.TempDir()
	c := Config{Argv: []string{"/proc/self/exe", "x"}, Env: []string{"A=b"}, Input: []byte("do it")}
	if err := writeJob(dir, &c); err != nil {
		t.Fatal(err)
	}
	self, _ := os.Executable()
	text, _ := os.ReadFile(filepath.Join(dir, jobFile))
	var job Job
	if err := json.Unmarshal(text, &job); err != nil || job.Argv[0] != self || job.Argv[1] != "x" ||
		!slices.Equal(job.Env, []string{"A=b", DirVar + "=" + boundDir}) {
		t.Errorf("got %+v (%v), want %s x with A=b and the directory", job, err, self)
	}
	if link, err := os.Readlink(filepath.Join(dir, initFile)); link != self {
		t.Errorf("got a link to %s (%v), want %s", link, err, self)
	}
	t.Setenv(DirVar, dir)
	if order, err := Input(); err != nil || string(order) != "do it" || !Inside() || Stopping() {
		t.Errorf("got %q (%v), want %q, inside and not stopping", order, err, "do it")
	}
	if err := os.WriteFile(filepath.Join(dir, stopFile), nil, 0o600); err != nil || !Stopping() {
		t.Errorf("stopping is %v (%v), want true", Stopping(), err)
	}
}

// Each guest has a processor of its own while there are enough, and the last one
// after that; a guest that is killed gives it back.
func TestClaimCPU(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	var claims []*cpuClaim
	defer func() {
		for _, c := range claims {
			c.release()
		}
	}()
	own := map[int]bool{}
	last := -1
	for range allowed.Count() + 1 {
		c := claimCPU()
		claims = append(claims, c)
		if c.cpu < 0 || !allowed.IsSet(c.cpu) || c.socket != nil && own[c.cpu] {
			t.Fatalf("processor %d, claimed %v, after %v: want one that is allowed, and claimed once", c.cpu,
				c.socket != nil, own)
		}
		own[c.cpu], last = own[c.cpu] || c.socket != nil, c.cpu
	}
	// Guests of other tests may come and go.
	_, line := role(t, claimerArgument)
	if cpu, err := strconv.Atoi(line); err != nil || own[cpu] && cpu != last {
		t.Errorf("when all are taken another process has %s, not %d", line, last)
	}
}
