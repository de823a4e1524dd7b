//go:build linux && !portable

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/emu/effort"
)

// A kill is what one run of TestKilledRunsLeaveNothing dies of.
type kill struct {
	engine string
	double bool    // two processes at once
	moment float64 // of the time that a run takes
	seed   uint64  // of the choice of victims
}

// kills makes a series of n: of 8, three are of two processes, none of them of the model,
// which has one. Some come when only one is left.
func kills(n int) (list []kill) {
	random := rand.New(rand.NewPCG(10, 17))
	engines := []string{"real", "virtual", "model", "real", "virtual", "real", "virtual", "model"}
	for i := range n {
		list = append(list, kill{
			engine: engines[i%8], double: i%8 == 1 || i%8 == 3 || i%8 == 6,
			moment: random.Float64(), seed: random.Uint64(),
		})
	}
	return list
}

// victims chooses one of each of so many kinds, of as many as there are.
func (k kill) victims(of []descendant) (list []descendant) {
	random := rand.New(rand.NewPCG(k.seed, 0))
	kinds := map[string][]descendant{}
	for _, d := range of {
		if d.kind != "" {
			kinds[d.kind] = append(kinds[d.kind], d)
		}
	}
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n := 1
	if k.double {
		n = 2
	}
	for _, name := range names[:min(n, len(names))] {
		list = append(list, kinds[name][random.IntN(len(kinds[name]))])
	}
	return list
}

// Whichever processes of a run are killed, on whichever engine, and whenever, the run
// ends, and 5 s later, after a clean, nothing but results is left. SIRDBED_KILLS is how
// many runs are killed.
func TestKilledRunsLeaveNothing(t *testing.T) {
	b := build(t)
	n := effort.Count(t, "SIRDBED_KILLS", 8)
	adopt(t)
	_, missing := haveKernel(t)
	b.write("kills.yaml", virtualScenario)
	c := &killing{program: b, takes: map[string]time.Duration{}, killed: map[string]int{}, before: b.traces()}
	// Not on a disk, where to give up a guest's memory may take as long as to write it.
	var err error
	if c.tmp, err = os.MkdirTemp("/dev/shm", "sirdbed-test-"); err != nil {
		c.tmp = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(c.tmp) })
	began := time.Now()
	for i, k := range kills(n) {
		if k.engine == "virtual" && missing != nil {
			k.engine = "real"
		}
		if c.takes[k.engine] == 0 {
			c.measure(k.engine)
		}
		c.kill(i, k)
		if t.Failed() {
			t.Fatalf("at kill %d, %+v", i+1, k)
		}
	}
	t.Logf("%d kills in %v, of %v; %d of two processes, %d of runs that had ended; runs took %v; "+
		"all was gone %v after the end of a run at most (%s), %v mean; at most %d namespaces were seen of a run",
		n, time.Since(began).Round(time.Second), c.killed, c.doubles, c.late, c.takes,
		c.slowest.Round(time.Millisecond), c.slow, (c.sum / time.Duration(n)).Round(time.Millisecond), c.namespaces)
	if n >= 20 && (c.namespaces < 6 || c.late > n/2) { // a sandbox's, and one for each of 3 hosts and a leaf
		t.Error("this test looks at nothing")
	}
}

// killing is the state of TestKilledRunsLeaveNothing.
type killing struct {
	*program
	tmp    string                   // where guests have their directories
	takes  map[string]time.Duration // a run that nobody kills, by engine
	before traces

	killed        map[string]int // by kind of process
	doubles, late int
	namespaces    int
	slowest, sum  time.Duration // until all was gone
	slow          string        // what the slowest was
}

// prepare makes the command of a run, and where it says what it has to say.
func (c *killing) prepare(engine, out string) (*exec.Cmd, *bytes.Buffer) {
	// Marks on real take root where the kernel has no RED.
	cmd := c.command("run", "kills.yaml", "--json", "--engine", engine, "--out", out, "--set", "sird.ecn=none")
	cmd.Env = append(cmd.Env, "TMPDIR="+c.tmp)
	cmd.WaitDelay = time.Second
	said := &bytes.Buffer{}
	cmd.Stderr = said
	return cmd, said
}

// start starts a run.
func (c *killing) start(engine, out string) *exec.Cmd {
	cmd, _ := c.prepare(engine, out)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

// measure finds out how long a run takes, twice: the first has something to warm.
func (c *killing) measure(engine string) {
	for range 2 {
		began := time.Now()
		run, said := c.prepare(engine, engine)
		if got := code(run.Run()); got != exitFine && got != exitInvalid {
			c.t.Fatalf("a run on %s exits with %d:\n%s", engine, got, said)
		}
		c.takes[engine] = time.Since(began).Round(time.Millisecond)
		if err := os.RemoveAll(filepath.Join(c.dir, engine)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// runEnds is how long a run may go on that has lost a process and may not know it.
const runEnds = 2 * time.Minute

func (c *killing) kill(i int, k kill) {
	c.t.Helper()
	out := fmt.Sprintf("killed-%d", i)
	run := c.start(k.engine, out)
	time.Sleep(time.Duration(k.moment * float64(c.takes[k.engine])))
	during := c.traces()
	c.namespaces = max(c.namespaces, len(during.namespaces))
	all := descendants()
	var names []string
	for _, v := range k.victims(all) {
		if syscall.Kill(v.pid, syscall.SIGKILL) == nil {
			names = append(names, v.kind)
			c.killed[v.kind]++
		}
	}
	switch len(names) {
	case 0:
		c.late++
	case 2:
		c.doubles++
	}
	ended := make(chan struct{})
	go func() { run.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(runEnds):
		c.t.Errorf("%v killed, and the run goes on for %v", names, runEnds)
		run.Process.Kill()
		<-ended
	}
	began := time.Now()
	left := func() (list []string) {
		for _, d := range descendants() {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.pid))
			list = append(list, fmt.Sprintf("process %d %s %q", d.pid, d.kind, command))
		}
		return append(list, c.left(c.before, during)...)
	}
	if !within(c.t.Context(), 5*time.Second, func() bool { return len(left()) == 0 }) {
		c.t.Fatalf("%v killed: 5 s later there is still\n%s", names, strings.Join(left(), "\n"))
	}
	took := time.Since(began)
	if c.sum += took; took > c.slowest {
		c.slowest, c.slow = took, fmt.Sprintf("%s, %v killed", k.engine, names)
	}
	reap(all)
	c.cleaned(names)
	for name := range strings.FieldsSeq(namesIn(c.t, c.dir)) {
		if !slices.Contains([]string{out, "kills.yaml", "real.yaml", "runtime"}, name) {
			c.t.Errorf("%v killed, and left is %s", names, name)
		}
	}
	c.reports(out)
	os.RemoveAll(filepath.Join(c.dir, out))
}

// reports fails unless what was measured until then can still be told.
func (c *killing) reports(out string) {
	c.t.Helper()
	if _, err := os.Stat(filepath.Join(c.dir, out)); err != nil {
		return // killed before it had made that
	}
	text, err := c.command("report", out).CombinedOutput()
	got := code(err)
	nothing := strings.Contains(string(text), "has no variant whose logs can be read") ||
		strings.Contains(string(text), "it has no scenario.json")
	if got != exitFine && got != exitInvalid && got != exitUnmet && !nothing {
		c.t.Errorf("report %s: %v\n%s", out, err, text)
	}
}

// cleaned runs clean, until all that a run has outside of its results is gone.
func (c *killing) cleaned(names []string) {
	c.t.Helper()
	var files []string
	var said string
	gone := within(c.t.Context(), 5*time.Second, func() bool {
		cmd := c.command("clean", "--json")
		cmd.Env = append(cmd.Env, "TMPDIR="+c.tmp)
		out, err := cmd.CombinedOutput()
		if err != nil {
			c.t.Fatalf("%v killed: clean: %v\n%s", names, err, out)
		}
		said = string(out)
		files, _ = filepath.Glob(filepath.Join(c.dir, "runtime", "*"))
		drafts, _ := filepath.Glob(filepath.Join(c.dir, "runtime", ".*"))
		scratch, _ := filepath.Glob(filepath.Join(c.tmp, "*"))
		files = append(append(files, drafts...), scratch...)
		return len(files) == 0 && strings.Contains(said, `"running": []`)
	})
	if !gone {
		c.t.Errorf("%v killed, and after clean there are still %v\n%s", names, files, said)
	}
}
