//go:build linux && !portable

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/emu/effort"
)

// Whichever process of a run that has taken a device is killed, and whenever, 2 s later
// the device is what it was before; where all are killed at once, 2 s after a clean.
// SIRDBED_KILLS is how many runs are killed.
func TestKilledRunsGiveDevicesBack(t *testing.T) {
	c := buildCabled(t)
	n := effort.Count(t, "SIRDBED_KILLS", 8)
	adopt(t)
	c.measureRuns()
	random := rand.New(rand.NewPCG(11, uint64(n)))
	for i := range n {
		if i == n/2 {
			c.use() // half of the kills are of runs with a device that has nothing to lose
		}
		c.kill(random, i%3 == 2)
		if t.Failed() {
			t.Fatalf("at kill %d of %d", i+1, n)
		}
	}
	t.Logf("%d kills, of %v; %d of them found the device changed; it was what it was after %v at most (%s)",
		n, c.killed, c.changed, c.slowest.Round(time.Millisecond), c.slow)
	if n >= 20 && c.changed < n/4 {
		t.Error("this test looks at nothing")
	}
}

// cabledKills is the state of TestKilledRunsGiveDevicesBack.
type cabledKills struct {
	takes   time.Duration // a run that nobody kills
	killed  map[string]int
	changed int // runs that were killed with the device in another state
	slowest time.Duration
	slow    string
}

// measureRuns finds out how long a run takes.
func (c *cabled) measureRuns() {
	c.t.Helper()
	c.cabledKills = cabledKills{killed: map[string]int{}}
	began := time.Now()
	if out, err := c.output("run", "device.yaml", "--out", "r"); code(err) != exitFine && code(err) != exitInvalid {
		c.t.Fatalf("exit code %d\n%s", code(err), out)
	}
	c.takes = time.Since(began)
}

// kill starts a run and kills one of its processes at a random moment, or all.
func (c *cabled) kill(random *rand.Rand, all bool) {
	c.t.Helper()
	before := c.look()
	run := c.command("run", "device.yaml", "--out", "killed", "--json")
	c.start(run)
	time.Sleep(time.Duration(random.Float64() * float64(c.takes)))
	if len(c.differences(before)) > 0 {
		c.changed++
	}
	processes := descendants()
	var kinds []string
	for _, d := range processes {
		if d.kind != "" && !slices.Contains(kinds, d.kind) {
			kinds = append(kinds, d.kind)
		}
	}
	slices.Sort(kinds)
	victim := "all"
	if !all && len(kinds) > 0 {
		victim = kinds[random.IntN(len(kinds))]
	}
	for _, d := range processes {
		if all || d.kind == victim {
			if syscall.Kill(d.pid, syscall.SIGKILL) == nil && !all {
				break
			}
		}
	}
	c.killed[victim]++
	ended := make(chan struct{})
	go func() { run.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		run.Process.Kill()
		<-ended
		c.t.Errorf("%s killed, and the run goes on for 30 s", victim)
	}
	began := time.Now()
	if all {
		for _, d := range descendants() { // that were started just then
			syscall.Kill(d.pid, syscall.SIGKILL)
		}
		if !within(c.t.Context(), 5*time.Second, func() bool { return len(descendants()) == 0 }) {
			c.t.Fatal("5 s later there are still processes")
		}
		began = time.Now()
		if out, err := c.output("clean"); err != nil {
			c.t.Fatalf("clean: %v\n%s", err, out)
		}
	}
	if !within(c.t.Context(), 2*time.Second, func() bool { return len(c.differences(before)) == 0 }) {
		c.t.Errorf("%s killed: 2 s later the device is not as it was:\n%s", victim,
			strings.Join(c.differences(before), "\n"))
	}
	if took := time.Since(began); took > c.slowest {
		c.slowest, c.slow = took, victim+" killed"
	}
	if !within(c.t.Context(), 5*time.Second, func() bool { return len(descendants()) == 0 }) {
		c.t.Errorf("%s killed: 5 s later there are still %v", victim, descendants())
	}
	reap(processes)
	if left, _ := filepath.Glob(filepath.Join(c.dir, "runtime", "*.device")); len(left) > 0 {
		c.t.Errorf("%s killed, and left is %v", victim, left)
	}
	if err := os.RemoveAll(filepath.Join(c.dir, "killed")); err != nil {
		c.t.Fatal(fmt.Errorf("%s killed: %w", victim, err))
	}
}
