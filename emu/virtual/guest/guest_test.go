//go:build linux

package guest

import (
	"bufio"
	"bytes"
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

// Roles that the test binary plays besides testing.
const (
	makerArgument   = "test-maker"   // has a scratch directory and a cleaner, and sleeps
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
		case makerArgument:
			makeAndSleep(os.Args[2])
		case claimerArgument:
			fmt.Println(claimCPU().cpu)
			time.Sleep(time.Minute)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// makeAndSleep makes a scratch directory, prints its name and its cleaner's pid, and
// sleeps.
func makeAndSleep(parent string) {
	p, err := openParent(parent)
	if err == nil {
		var d *ownDir
		if d, err = makeOwnDir(p); err == nil {
			var k *cleaner
			if k, err = startCleaner(d); err == nil {
				_ = d.root.MkdirAll(".uml/guest", 0o700)
				fmt.Println(d.name, k.cmd.Process.Pid)
				time.Sleep(time.Minute)
				d.close()
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// role starts the test binary in a role and returns the words of its first line.
func role(t *testing.T, argv ...string) (cmd *exec.Cmd, words []string) {
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.Fields(line)
}

// maker starts a process that has a scratch directory in parent, and a cleaner.
func maker(t *testing.T, parent string) (cmd *exec.Cmd, dir string, cleaner int) {
	t.Helper()
	cmd, words := role(t, makerArgument, parent)
	if len(words) != 2 {
		t.Fatalf("the maker of a directory says %q", words)
	}
	cleaner, err := strconv.Atoi(words[1])
	if err != nil {
		t.Fatal(err)
	}
	return cmd, filepath.Join(parent, words[0]), cleaner
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
	cmd, dir, cleaner := maker(t, t.TempDir())
	ignores := func() bool { // SIGHUP, SIGINT and SIGTERM
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cleaner))
		_, mask, _ := strings.Cut(string(status), "SigIgn:\t")
		ignored, _ := strconv.ParseUint(mask[:min(16, len(mask))], 16, 64)
		return ignored&0x4003 == 0x4003
	}
	for range 500 {
		if ignores() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(cleaner, s); err != nil {
			t.Error(err)
		}
	}
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
	d := ownDirIn(t, t.TempDir())
	k, err := startCleaner(d)
	if err != nil {
		t.Fatal(err)
	}
	k.end()
	if _, err := os.Lstat(d.path()); !os.IsNotExist(err) || k.cmd.ProcessState == nil || !k.cmd.ProcessState.Success() {
		t.Errorf("got %v, %v; want the directory gone and the cleaner ended well", err, k.cmd.ProcessState)
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
	if err := usable(filepath.Join(dir, "none"), 1); err == nil {
		t.Error("a directory that is not there is usable")
	}
}

// TMPDIR comes first, where it is usable, relative to where sirdbed was started;
// where nothing is, the error has every reason, and nothing is left.
func TestScratchDir(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(filepath.Dir(parent))
	for _, tmpdir := range []string{parent, filepath.Base(parent)} {
		t.Setenv("TMPDIR", tmpdir)
		d, err := makeScratchDir(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(d.path()) != parent {
			t.Errorf("TMPDIR=%s: got %s, want one in %s", tmpdir, d.path(), parent)
		}
		d.remove()
		d.close()
	}
	t.Setenv("TMPDIR", filepath.Join(parent, "none"))
	d, err := makeScratchDir(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(d.path(), parent) {
		t.Errorf("without TMPDIR's: got %s, want one elsewhere", d.path())
	}
	d.remove()
	d.close()
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

// The job names this program where that is asked for, tells the command where it is,
// and leads to what it is shown. The program is the one that runs.
func TestJob(t *testing.T) {
	d := ownDirIn(t, t.TempDir())
	dir := d.path()
	c := Config{Argv: []string{"/proc/self/exe", "x"}, Env: []string{"A=b"}, Input: []byte("do it"),
		Show: []string{"/a b,c"}}
	if err := fill(d, &c); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, jobFile))
	var job Job
	if err := json.Unmarshal(text, &job); err != nil || job.Argv[0] != "/run/guest/init" || job.Argv[1] != "x" ||
		!slices.Equal(job.Env, []string{"A=b", DirVar + "=" + boundDir}) || !slices.Equal(job.Show, c.Show) {
		t.Errorf("got %+v (%v), want this program with x, A=b and the directories", job, err)
	}
	if link, err := os.Readlink(filepath.Join(dir, showDir, "0")); link != "/a b,c" {
		t.Errorf("got a link to %s (%v), want %s", link, err, c.Show[0])
	}
	self, err := os.ReadFile("/proc/self/exe")
	if program, e := os.ReadFile(filepath.Join(dir, initFile)); err != nil || e != nil || !bytes.Equal(program, self) {
		t.Errorf("the program has %d bytes (%v, %v), want the %d of this one", len(program), err, e, len(self))
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
	_, words := role(t, claimerArgument)
	line := strings.Join(words, " ")
	if cpu, err := strconv.Atoi(line); err != nil || own[cpu] && cpu != last {
		t.Errorf("when all are taken another process has %s, not %d", line, last)
	}
}
