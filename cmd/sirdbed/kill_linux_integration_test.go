//go:build linux && !portable

package main

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/capture/results"
)

// traces are what a run has of the machine besides its processes, which program
// finds by their environment.
type traces struct {
	namespaces map[string]bool // of its processes, or held by their descriptors
	interfaces []string        // of the machine's own namespace
	mounts     []string        // there, of namespaces or in the test's directory
}

var namespaceKinds = []string{"net", "mnt", "pid", "user", "ipc", "uts"}

// traces looks at the run as it goes on.
func (b *program) traces() traces {
	b.t.Helper()
	t := traces{namespaces: map[string]bool{}}
	for _, p := range b.processes() {
		maps.Copy(t.namespaces, namespacesOf(fmt.Sprintf("/proc/%d", p.pid)))
	}
	for own := range namespacesOf("/proc/self") {
		delete(t.namespaces, own)
	}
	list, err := net.Interfaces()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, i := range list {
		t.interfaces = append(t.interfaces, i.Name)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, " nsfs ") || strings.Contains(line, b.dir) {
			t.mounts = append(t.mounts, line)
		}
	}
	return t
}

// namespacesOf lists the namespaces that a process is in, with all its threads,
// or has descriptors of.
func namespacesOf(proc string) map[string]bool {
	found := map[string]bool{}
	add := func(pattern string) {
		links, _ := filepath.Glob(proc + pattern)
		for _, l := range links {
			name, _ := os.Readlink(l)
			kind, _, _ := strings.Cut(name, ":[")
			if slices.Contains(namespaceKinds, kind) {
				found[name] = true
			}
		}
	}
	add("/task/*/ns/*")
	add("/fd/*")
	return found
}

// left tells what of a run that has ended is still there; before is from before
// it began, during from when it was up.
func (b *program) left(before, during traces) (list []string) {
	for _, p := range b.processes() {
		list = append(list, fmt.Sprintf("process %d %s", p.pid, p.command))
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range processes {
		if dead(proc) {
			continue
		}
		for name := range namespacesOf(proc) {
			if during.namespaces[name] {
				list = append(list, fmt.Sprintf("%s, held by %s", name, proc))
			}
		}
	}
	now := b.traces()
	for _, name := range now.interfaces {
		if !slices.Contains(before.interfaces, name) {
			list = append(list, "interface "+name)
		}
	}
	for _, line := range now.mounts {
		if !slices.Contains(before.mounts, line) {
			list = append(list, "mount "+line)
		}
	}
	return list
}

// dead reports whether a process is a zombie, which holds nothing, once all its threads
// have ended. Those of a killed run are reaped by the machine's process 1 when it likes.
func dead(proc string) bool {
	stat, err := os.ReadFile(proc + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	threads, _ := os.ReadDir(proc + "/task")
	return err != nil || strings.HasPrefix(state, "Z") && len(threads) <= 1
}

// vanished waits until nothing is left of a run, at most 5 s, and until no run
// seems to be up.
func (b *program) vanished(before, during traces) {
	b.t.Helper()
	if !within(b.t.Context(), 5*time.Second, func() bool { return len(b.left(before, during)) == 0 }) {
		b.t.Fatalf("5 s later there is still\n%s", strings.Join(b.left(before, during), "\n"))
	}
	out, err := b.command("clean", "--json").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"running": []`) {
		b.t.Fatalf("clean: %v\n%s", err, out)
	}
	if files, _ := filepath.Glob(filepath.Join(b.dir, "runtime", "*")); len(files) > 0 {
		b.t.Fatalf("left: %v", files)
	}
}

// Whichever of a run's processes is killed, the others go with it, and whoever
// waits for it is told.
func TestKilledSandboxEndsTheRun(t *testing.T) {
	b := build(t)
	before := b.traces()
	for _, part := range []string{"supervisor", "worker"} {
		run := b.command("run", "real.yaml", "--json", "--set", "duration=1s")
		var said strings.Builder
		run.Stderr = &said
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		b.running()
		during := b.traces()
		for _, p := range b.processes() {
			if p.sandbox == part && !p.isHost() {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		got := code(run.Wait())
		if got != exitFailed || !strings.Contains(said.String(), "the run was killed by a signal: killed") {
			t.Errorf("%s killed: exit code %d\n%s", part, got, said.String())
		}
		b.vanished(before, during)
	}
}

// heedHangUps has what a test starts heed SIGHUP, though the test may itself run under
// nohup: a signal that is caught is no longer ignored by programs started.
func heedHangUps(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
}

// SIGTERM, SIGHUP and a terminal that closes end a run early: what was measured
// until then is reported, and nothing is left.
func TestEndedRunReports(t *testing.T) {
	b := build(t)
	heedHangUps(t)
	before := b.traces()
	end := map[string]func(*exec.Cmd) (begin, end func()){
		"SIGTERM": func(run *exec.Cmd) (begin, end func()) {
			return func() {}, func() { run.Process.Signal(syscall.SIGTERM) }
		},
		"SIGHUP": func(run *exec.Cmd) (begin, end func()) {
			return func() {}, func() { run.Process.Signal(syscall.SIGHUP) }
		},
		"terminal": func(run *exec.Cmd) (begin, end func()) {
			ours, its := terminal(t)
			run.Stdin, run.Stdout, run.Stderr = its, its, its
			run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			return func() { its.Close(); go io.Copy(io.Discard, ours) }, func() { ours.Close() }
		},
	}
	for _, name := range slices.Sorted(maps.Keys(end)) {
		run := b.command("run", "real.yaml", "--out", name, "--set", "duration=1s")
		begin, end := end[name](run)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		begin()
		b.running()
		during := b.traces()
		end()
		if got := code(run.Wait()); got != exitStopped {
			t.Errorf("%s: exit code %d", name, got)
		}
		if _, err := results.ReadSummary(filepath.Join(b.dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.vanished(before, during)
	}
}

// Under nohup a run outlives its terminal.
func TestNohup(t *testing.T) {
	b := build(t)
	before := b.traces()
	ours, its := terminal(t)
	// The shell dies with its terminal, and then the kernel tells its foreground
	// processes: the run's.
	cmd := b.other("/bin/sh", "-c", `nohup "$0" run real.yaml --out r --set duration=8ms; :`, b.path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = its, its, its
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	its.Close()
	go io.Copy(io.Discard, ours)
	b.running()
	during := b.traces()
	ours.Close()
	cmd.Wait()
	if !within(t.Context(), 20*time.Second, func() bool { return len(b.processes()) == 0 }) {
		t.Fatalf("it does not end: %v", b.processes())
	}
	if v := b.variant("r"); v.Facts == nil || v.Facts.Failure != "" {
		t.Errorf("the run did not come to its end: %+v", v.Facts)
	}
	b.vanished(before, during)
}

// terminal makes a pseudo-terminal: our end, and that of a program.
func terminal(t *testing.T) (ours, its *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	ours = os.NewFile(uintptr(fd), "ptmx")
	its, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, its
}
