//go:build linux && !portable

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A disturbance is something that may befall a machine while a run goes on.
type disturbance struct {
	name string
	// start begins it; it ends with the context at the latest, and end waits for that.
	start func(d *disturbed, r *rand.Rand) (what string)
}

// disturbed is a run under disturbance.
type disturbed struct {
	*program
	ctx context.Context // the run's time
	end []func()
}

var disturbances = []disturbance{
	{"hogs", (*disturbed).hogs},
	{"host stopped", func(d *disturbed, r *rand.Rand) string {
		return d.stopped(r, func(p process) bool { return p.isHost() })
	}},
	{"cgroup", (*disturbed).squeeze},
	{"controller stopped", func(d *disturbed, r *rand.Rand) string {
		return d.stopped(r, func(p process) bool { return p.sandbox == "worker" && !p.isHost() })
	}},
	{"sampler stopped", (*disturbed).frozenSampler},
	{"processor taken", (*disturbed).takeProcessor},
}

// amid is a moment of a run of the scenario below, after its hosts have started.
func amid(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(2500 * time.Millisecond))) }

// hogs starts processes that use all of the processors' time that they get.
func (d *disturbed) hogs(r *rand.Rand) string {
	n := 1 + r.IntN(2*runtime.NumCPU())
	wait, last := amid(r), time.Duration(50+r.IntN(3000))*time.Millisecond
	time.Sleep(wait)
	for range n {
		ctx, cancel := context.WithTimeout(d.ctx, last)
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			d.t.Fatal(err)
		}
		d.end = append(d.end, func() { cmd.Wait(); cancel() })
	}
	return fmt.Sprintf("%d hogs from %v for %v", n, wait, last)
}

// stopped stops a process of the run, once or a few times.
func (d *disturbed) stopped(r *rand.Rand, which func(process) bool) string {
	var of []process
	for _, p := range d.processes() {
		if which(p) {
			of = append(of, p)
		}
	}
	if len(of) == 0 {
		return "nothing: it is over"
	}
	what := ""
	for range 1 + r.IntN(3) {
		wait, last := amid(r), between(r, 3*time.Millisecond, 800*time.Millisecond)
		time.Sleep(wait)
		p := of[r.IntN(len(of))]
		if syscall.Kill(p.pid, syscall.SIGSTOP) != nil {
			break
		}
		time.Sleep(last)
		syscall.Kill(p.pid, syscall.SIGCONT)
		what += fmt.Sprintf("%d for %v, %v later; ", p.pid, last, wait)
	}
	return what
}

// between is a time whose logarithm is uniform.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return time.Duration(float64(least) * math.Pow(float64(most)/float64(least), r.Float64()))
}

// frozenSampler stops one thread of the controller, as nothing but a debugger can.
func (d *disturbed) frozenSampler(r *rand.Rand) string {
	tid := 0
	within(d.ctx, 2*time.Second, func() bool {
		for _, p := range d.processes() {
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", p.pid))
			for _, path := range tasks {
				if name, _ := os.ReadFile(path); string(name) == "sampler\n" {
					tid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
				}
			}
		}
		return tid > 0
	})
	wait, last := amid(r), between(r, 3*time.Millisecond, 1500*time.Millisecond)
	time.Sleep(wait)
	if err := freeze(tid, last); err != nil {
		return "nothing: " + err.Error()
	}
	return fmt.Sprintf("for %v after %v", last, wait)
}

// freeze stops a thread for a while.
func freeze(tid int, last time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(tid); err != nil {
		return err
	}
	err := unix.PtraceInterrupt(tid)
	if err == nil {
		_, err = unix.Wait4(tid, nil, unix.WALL, nil)
	}
	time.Sleep(last)
	if e := unix.PtraceDetach(tid); err == nil {
		err = e
	}
	return err
}

// squeeze gives the run's processes a part of one processor for some time.
func (d *disturbed) squeeze(r *rand.Rand) string {
	share := []int{5, 10, 10, 20, 50}[r.IntN(5)]
	wait, last := amid(r), between(r, 10*time.Millisecond, 3*time.Second)
	root, limit, limited, free := "/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d000 100000", share), "max 100000"
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil { // version 1
		root, limit, limited, free = root+"/cpu", "cpu.cfs_quota_us", fmt.Sprintf("%d000", share), "-1"
	}
	group := filepath.Join(root, fmt.Sprintf("sirdbed-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		return "nothing: " + err.Error()
	}
	d.end = append(d.end, func() { // empty once the run is over
		if !within(d.t.Context(), 5*time.Second, func() bool { return os.Remove(group) == nil }) {
			d.t.Errorf("%s cannot be removed", group)
		}
	})
	put := func(file, text string) error {
		f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0) // that is there
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
	if err := put(limit, limited); err != nil {
		return "nothing: " + err.Error()
	}
	time.Sleep(wait)
	moved := 0
	for _, p := range d.processes() {
		if put("cgroup.procs", fmt.Sprint(p.pid)) == nil {
			moved++
		}
	}
	time.Sleep(last)
	if err := put(limit, free); err != nil {
		d.t.Error(err)
	}
	return fmt.Sprintf("%d processes at %d %% of a processor from %v for %v", moved, share, wait, last)
}

// disturb lets one thing befall the run that is up, and returns what.
func (d *disturbed) disturb(t *testing.T, kind *disturbance, r *rand.Rand) string {
	within(d.ctx, 10*time.Second, func() bool {
		n := 0
		for _, p := range d.processes() {
			if p.isHost() {
				n++
			}
		}
		return n == 4
	})
	if kind == nil {
		return "undisturbed"
	}
	return kind.name + ": " + kind.start(d, r)
}

// takeProcessor runs a process on one processor that gives way to none of the
// machine's, its soft interrupts' threads among them.
func (d *disturbed) takeProcessor(r *rand.Rand) string {
	cpu, wait, last := r.IntN(runtime.NumCPU()), amid(r), between(r, 3*time.Millisecond, 900*time.Millisecond)
	time.Sleep(wait)
	out, err := exec.CommandContext(d.ctx, "timeout", fmt.Sprint(last.Seconds()), "taskset", "-c", fmt.Sprint(cpu),
		"chrt", "-f", "50", "/bin/sh", "-c", "while :; do :; done").CombinedOutput()
	if code(err) != 124 { // timeout's
		return fmt.Sprintf("nothing: %v: %s", err, out)
	}
	return fmt.Sprintf("%d for %v after %v", cpu, last, wait)
}
