//go:build linux && !portable

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
)

// A virtualRun is a run of the virtual engine that something is done to.
type virtualRun struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string // where it was started; its results are in out
	tmp  string // its guest's memory
	said strings.Builder
}

// startVirtual starts a run that takes long, and returns when messages of it are
// logged.
func startVirtual(t *testing.T, path, dir string) *virtualRun {
	t.Helper()
	r := &virtualRun{t: t, dir: t.TempDir()}
	// Not on a disk, where to give up memory may take as long as to write it.
	var err error
	if r.tmp, err = os.MkdirTemp("/dev/shm", "sirdbed-test-"); err != nil {
		r.tmp = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(r.tmp) })
	r.cmd = exec.CommandContext(t.Context(), path,
		"run", filepath.Join(dir, "virtual.yaml"), "--out", "out", "--set", "duration=100ms")
	r.cmd.Dir, r.cmd.Env = r.dir, append(os.Environ(), "TMPDIR="+r.tmp)
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	logged := within(t.Context(), 2*time.Minute, func() bool {
		info, err := os.Stat(filepath.Join(r.dir, "out", "variants", "sird", "hosts", "h2-1.rec"))
		return err == nil && info.Size() > 20<<10
	})
	if !logged {
		r.cmd.Process.Kill()
		r.cmd.Wait()
		t.Fatalf("nothing is logged:\n%s", r.said.String())
	}
	return r
}

// processes are those of the run: its own, the cleaner, the guest's kernel and
// what that traces. The kernel is the first.
func (r *virtualRun) processes() (list []int) {
	var tree func(pid int)
	tree = func(pid int) {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			for field := range strings.FieldsSeq(string(text)) {
				child, _ := strconv.Atoi(field)
				command, _ := os.ReadFile("/proc/" + field + "/cmdline")
				list = append(list, child)
				if strings.Contains(string(command), "umid=guest") && pid == r.cmd.Process.Pid {
					list[0], list[len(list)-1] = list[len(list)-1], list[0]
				}
				tree(child)
			}
		}
	}
	tree(r.cmd.Process.Pid)
	if len(list) < 8 { // a cleaner, a kernel, 6 hosts
		r.t.Errorf("a run of %d processes", len(list))
	}
	return list
}

// vanished fails unless nothing but results is left of the run within a time.
func (r *virtualRun) vanished(list []int, limit time.Duration) {
	r.t.Helper()
	left := func() (alive []string) {
		for _, pid := range list {
			proc := "/proc/" + strconv.Itoa(pid)
			if !dead(proc) {
				stat, _ := os.ReadFile(proc + "/stat")
				alive = append(alive, string(stat[:min(len(stat), 40)]))
			}
		}
		return alive
	}
	files := func() []os.DirEntry { e, _ := os.ReadDir(r.tmp); return e }
	if !within(context.Background(), limit, func() bool { return len(left()) == 0 && len(files()) == 0 }) {
		r.t.Errorf("after %v there are still processes %q, files %v", limit, left(), files())
	}
	all, _ := filepath.Glob(filepath.Join(r.dir, "*"))
	run, _ := filepath.Glob(filepath.Join(r.dir, "out", "variants", "sird", "*"))
	for _, path := range append(all, run...) {
		switch filepath.Base(path) {
		case "out", "captures", "hosts", "queues.rec", "experiment.json", "facts.json":
		default:
			r.t.Errorf("left: %s", path)
		}
	}
}

// reports fails unless report shows that the run did not come to its end, and
// messages of it.
func (r *virtualRun) reports(path, reason string) {
	r.t.Helper()
	cmd := exec.Command(path, "report", "out")
	cmd.Dir = r.dir
	text, err := cmd.CombinedOutput()
	if code(err) != exitInvalid || !strings.Contains(string(text), reason) {
		r.t.Errorf("report: %v\n%s", err, text)
	}
	variants := judgedVariants(r.t, filepath.Join(r.dir, "out"))
	if len(variants) != 1 {
		r.t.Fatalf("%d variants", len(variants))
	}
	delivered := 0
	for i := range variants[0].Messages {
		if variants[0].Messages[i].Latency() > 0 {
			delivered++
		}
	}
	if c := check(variants[0], "integrity"); delivered < 100 || c == nil || c.Level != results.Pass {
		r.t.Errorf("%d messages, integrity %+v", delivered, c)
	}
	r.t.Logf("%d messages are kept", delivered)
}

// Whatever is killed, and however, the run ends at once with an error that says
// what to know, keeps what it has measured and leaves nothing else.
func TestVirtualDeaths(t *testing.T) {
	t.Parallel()
	heedHangUps(t)
	path, dir := virtualBinary(t)
	for _, d := range []struct {
		name   string
		guest  bool // the signal is for the guest's kernel, not for sirdbed
		signal syscall.Signal
		code   int
		says   string // by run
		reason string // by report
	}{
		{"panic", true, syscall.SIGSEGV, exitFailed, "FAILED after",
			"run: it failed: the guest died: Kernel panic - not syncing"},
		{"guest killed", true, syscall.SIGKILL, exitFailed,
			"the guest's kernel ended: signal: killed (by somebody, or by this machine",
			"run: it failed: the guest's kernel ended"},
		{"no memory", true, syscall.SIGBUS, exitFailed, "no room is left for its memory in ",
			"set TMPDIR to another directory"},
		{"killed", false, syscall.SIGKILL, -1, "", "facts: facts.json is missing: the run was killed"},
		{"terminated", false, syscall.SIGTERM, exitStopped,
			"interrupted: the above is what was measured until then", "run: it was interrupted at "},
		{"hung up", false, syscall.SIGHUP, exitStopped, "interrupted: the above", "run: it was interrupted at "},
	} {
		t.Run(d.name, func(t *testing.T) {
			r := startVirtual(t, path, dir)
			list := r.processes()
			target := r.cmd.Process.Pid
			if d.guest {
				target = list[0]
			}
			if err := syscall.Kill(target, d.signal); err != nil {
				t.Fatal(err)
			}
			if got := code(r.cmd.Wait()); got != d.code {
				t.Errorf("exit code %d", got)
			}
			if !strings.Contains(r.said.String(), d.says) {
				t.Errorf("no %q in\n%s", d.says, r.said.String())
			}
			r.vanished(list, 5*time.Second)
			r.reports(path, d.reason)
		})
	}
}

// Two runs at once do not know of each other.
func TestVirtualRunsSideBySide(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	var runs []*exec.Cmd
	for _, out := range []string{"a", "b"} {
		cmd := exec.Command(path, "run", "virtual.yaml", "--json", "--out", out)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, cmd)
	}
	for _, cmd := range runs {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	a, errA := results.ReadSummary(filepath.Join(dir, "a"))
	b, errB := results.ReadSummary(filepath.Join(dir, "b"))
	if errA != nil || errB != nil || a.Digest != b.Digest || a.Verdict != results.Pass {
		t.Errorf("%v, %v, verdict %s, digests %s and %s", errA, errB, a.Verdict, a.Digest, b.Digest)
	}
}

// Disks of a size that does not do, in a mount namespace of the shell's own.
const (
	virtualTinyDisk = `mkdir tiny && mount -t tmpfs -o size=400k tmpfs tiny || { echo no mounts here; exit; }
"$SIRDBED" run virtual.yaml --set capture=[] --set duration=20ms --out tiny/r
echo "exit code $?"
find tiny -name '*.part' -o -name '*.new'
mount -o remount,size=20m tmpfs tiny
"$SIRDBED" report tiny/r
echo "report's exit code $?"`
	virtualTinyMemory = `mkdir mem && mount -t tmpfs -o size=900m tmpfs mem || { echo no mounts here; exit; }
TMPDIR=$PWD/mem "$SIRDBED" run virtual.yaml --set capture=[] --set duration=20ms --out r & run=$!
for i in $(seq 600); do [ -s r/variants/sird/hosts/h2-1.rec ] && break; sleep 0.1; done
head -c 2000m /dev/zero >mem/fill 2>/dev/null
wait $run
echo "exit code $?"
ls -A mem`
)

// A disk that is full, of results or of the guest's memory, is one error that
// says so.
func TestVirtualFullDisks(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	unshare := unshareFlags(t, "--mount")
	run := func(script string) string {
		cmd := exec.Command("unshare", append(unshare, "sh", "-c", script)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "SIRDBED="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "no mounts here") {
			t.Skipf("no mounts here: %v: %s", err, out)
		}
		return string(out)
	}
	out := run(virtualTinyDisk)
	_, report, ok := strings.Cut(out, "exit code 1\n")
	if !ok || strings.Count(out, "is full: free some space, or put results elsewhere with --out") != 1 {
		t.Errorf("no exit code 1, or not one error:\n%s", out)
	}
	if strings.Contains(report, ".part\n") || strings.Contains(report, ".new\n") ||
		!strings.Contains(report, " sird     all ") || !strings.HasSuffix(report, "report's exit code 3\n") {
		t.Errorf("with room again:\n%s", report)
	}
	out = run(virtualTinyMemory)
	want := "no room is left for its memory in " + filepath.Join(dir, "mem") + ": free some there, or set TMPDIR"
	if !strings.Contains(out, want) || !strings.HasSuffix(out, "exit code 1\nfill\n") {
		t.Errorf("memory:\n%s", out)
	}
}
