//go:build linux && !portable

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const slurmGrid = `
name: grid
engine: model
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 1us}
protocols: [sird, homa]
traffic:
  - {name: a, pattern: poisson, sizes: wka, rate: 40Gbps}
duration: 5ms
drain: 1ms
`

// The same grid on this machine and over Slurm gives the same rows, though a node dies while
// it runs a point.
func TestSweepOverSlurm(t *testing.T) {
	t.Parallel()
	b := build(t)
	c := newCluster(t)
	b.write("grid.yaml", slurmGrid)
	grid := func(out string, more ...string) []string {
		own := []string{"--points", "points-" + out, "--out", out}
		return slices.Concat([]string{"sweep", "grid.yaml", "--seeds", "1..3"}, own, more)
	}
	over, stderr := b.command(grid("slurm", "--slurm", "--slurm-option", "--partition=all")...), &said{}
	over.Stderr = stderr
	if err := c.launch(over); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- over.Wait() }()
	c.killAtWork("n2", stderr)
	if text, err := b.command(grid("here")...).CombinedOutput(); err != nil { // until Slurm has noticed
		t.Fatalf("%v\n%s", err, text)
	}
	err := <-ended
	if err != nil || strings.Count(stderr.String(), "left no point (node_fail); submitted again") != 1 {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if here, slurm := b.sweepRows("here"), b.sweepRows("slurm"); len(here) != 6 || !reflect.DeepEqual(here, slurm) {
		t.Errorf("over Slurm:\n%+v\nhere:\n%+v", slurm, here)
	}
	if here, slurm := b.pointNames("points-here"), b.pointNames("points-slurm"); !reflect.DeepEqual(here, slurm) {
		t.Errorf("over Slurm there are %v, here %v", slurm, here)
	}
	c.interrupt(b, b.command("sweep", "grid.yaml", "--seeds", "4..9", "--points", "points-slurm", "--slurm"))
}

// An interrupt takes what was submitted out of Slurm.
func (c *cluster) interrupt(b *program, over *exec.Cmd) {
	c.t.Helper()
	stderr := &said{}
	over.Stderr = stderr
	if err := c.launch(over); err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "a point", func() bool { return strings.Contains(stderr.String(), "\n[1/") })
	if err := over.Process.Signal(syscall.SIGINT); err != nil {
		c.t.Fatal(err)
	}
	if err := over.Wait(); code(err) != exitStopped || !strings.Contains(stderr.String(), "interrupted: ") {
		c.t.Errorf("%v\n%s", err, stderr)
	}
	if out, err := c.run(exec.Command("squeue", "--noheader")); err != nil || out != "" {
		c.t.Errorf("%v, Slurm still has\n%s", err, out)
	}
	for _, name := range b.pointNames("points-slurm") {
		if !strings.HasSuffix(name, ".json") {
			c.t.Errorf("there is still %s", name)
		}
	}
}

// killAtWork kills a node while it runs a point, of which it has written nothing.
func (c *cluster) killAtWork(node string, stderr *said) {
	c.t.Helper()
	namespace := namespaceOf(c.daemons[node].Process.Pid)
	eventually(c.t, "a point that "+node+" runs", func() bool {
		for _, pid := range tasksIn(namespace) {
			if syscall.Kill(pid, syscall.SIGSTOP) != nil {
				continue
			}
			task := taskOf(pid)
			eventually(c.t, "a point that has stopped", func() bool { return !runs(pid) })
			if _, err := os.Stat(outcomeFile(task)); task != "" && stateOf(pid) == "T" && os.IsNotExist(err) {
				c.kill(node)
				return true
			}
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		return false
	})
	if strings.Contains(stderr.String(), "submitted again") {
		c.t.Fatalf("a point was lost before:\n%s", stderr)
	}
}

// namespaceOf names a process's process namespace.
func namespaceOf(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return name
}

// tasksIn lists the processes in a namespace that run points.
func tasksIn(namespace string) (list []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var pid int
		fmt.Sscanf(dir, "/proc/%d", &pid)
		if taskOf(pid) != "" && namespaceOf(pid) == namespace {
			list = append(list, pid)
		}
	}
	return list
}

// taskOf is the file of the task that a process runs.
func taskOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	_, after, _ := bytes.Cut(text, []byte("\x00sweep\x00point\x00"))
	file, _, _ := bytes.Cut(after, []byte{0})
	return string(file)
}

// stateOf is a process's state, "T" if it is stopped, "" if it is gone.
func stateOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	state, _, _ := strings.Cut(after, " ")
	return state
}

// runs reports whether a process is neither stopped nor over.
func runs(pid int) bool { return strings.Contains("RSD", stateOf(pid)) && stateOf(pid) != "" }

// sweepRows are the rows of a sweep, without what it took.
func (b *program) sweepRows(out string) []SweepRow {
	b.t.Helper()
	rows, err := parquet.ReadFile[SweepRow](filepath.Join(b.dir, out, sweepParquet))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range rows {
		rows[i].WallSeconds = 0
	}
	return rows
}

// pointNames lists what is in a directory of points.
func (b *program) pointNames(dir string) (names []string) {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, dir))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
