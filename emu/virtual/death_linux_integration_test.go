//go:build linux

package virtual

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// busy is an experiment that no test waits for the end of.
func busy() *emu.Experiment {
	return &emu.Experiment{
		Scenario: "busy", Variant: "sird", Protocol: "sird", Seed: 1,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 100 * units.Gbps, HostDelay: 2000, MTU: 1500},
		Streams:  []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Load: 0.5, Sizes: "wka"}},
		Duration: units.Second, QueueEvery: 10 * units.Microsecond,
	}
}

// engine is the engine on this test's binary; started is told the kernel's
// process.
func engine(t *testing.T, started func(pid int)) *Engine {
	return &Engine{
		Kernel: requireKernel(t), Command: []string{"/proc/self/exe", controllerArgument},
		NodeCommand: []string{"/proc/self/exe", nodeArgument},
		Started:     started,
	}
}

// private has guests keep their memory where nobody else's is, and checks at the
// end that they left nothing there.
func private(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
	})
}

// However the guest dies in the middle of a run, the error says how, and what was
// measured until shortly before is kept.
func TestDeadGuestKeepsWhatWasMeasured(t *testing.T) {
	for name, d := range map[string]struct {
		signal syscall.Signal
		want   []string
	}{
		"panic": {unix.SIGSEGV, []string{"the guest died: Kernel panic - not syncing", "its last lines:",
			"Call Trace"}},
		"killed":  {unix.SIGKILL, []string{"the guest's kernel ended: signal: killed", "dmesg"}},
		"aborted": {unix.SIGABRT, []string{"the guest's kernel ended: signal: aborted"}},
		"no room": {unix.SIGBUS, []string{"no room is left for its memory in " + "TMPDIR", "set TMPDIR"}},
	} {
		t.Run(name, func(t *testing.T) {
			private(t)
			pid, killed := 0, false
			var reached units.Time
			dir := t.TempDir()
			e := engine(t, func(p int) { pid = p })
			facts, err := e.Run(context.Background(), busy(), rundir.Open(t, dir), emu.Hooks{
				Progress: func(at units.Time) {
					if at > 2*units.Millisecond && !killed {
						killed = true
						syscall.Kill(pid, d.signal)
					}
					reached = at
				},
			})
			var death *guest.DeathError
			if !errors.As(err, &death) {
				t.Fatalf("error %v", err)
			}
			for _, want := range d.want {
				want = strings.ReplaceAll(want, "in TMPDIR", "in "+os.Getenv("TMPDIR"))
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
			if facts.Failure != err.Error() || facts.Engine != "virtual" || facts.Dilation != DefaultDilation ||
				facts.Reached != reached {
				t.Errorf("facts %+v", facts)
			}
			if last := lastRecord(t, filepath.Join(dir, "hosts", "h1-1.rec")); last < reached-units.Millisecond {
				t.Errorf("of %v, %v are kept", reached, last)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 5 {
				t.Errorf("in the run's directory: %v", left)
			}
		})
	}
}

// lastRecord is the time of the last whole record in a log that was cut off.
func lastRecord(t *testing.T, path string) (at units.Time) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for r, err := range record.Read(file) {
		if err != nil {
			break
		}
		at = r.At
	}
	return at
}

// A fabric that does not fit into the guest's memory is told so.
func TestOutOfMemory(t *testing.T) {
	private(t)
	e, x := engine(t, nil), busy()
	e.Memory, x.Topology.HostsPerLeaf = 96<<20, 24
	facts, err := e.Run(context.Background(), x, rundir.Open(t, t.TempDir()), emu.Hooks{})
	if err == nil || !strings.Contains(err.Error(),
		"ran out of its 96 MB of memory: shorten the run, or capture fewer nodes") {
		t.Fatalf("24 hosts in 96 MB: %v", err)
	}
	if facts == nil || facts.Failure != err.Error() {
		t.Errorf("facts %+v", facts)
	}
}

// A command that eats the guest's memory loses it, not the machine's.
func TestOutOfMemoryInACommand(t *testing.T) {
	private(t)
	exit, said, err := inGuest(t, guest.Config{Argv: []string{"/bin/sh", "-c",
		"tail /dev/zero; echo tail ended with $?"}, Memory: 128 << 20})
	if err != nil || exit != 0 || !strings.Contains(said, "Out of memory: Killed process") ||
		!strings.Contains(said, "tail ended with 137") {
		t.Errorf("exit code %d, %v\n%s", exit, err, said)
	}
}

// A kernel that is stopped is given up, and goes.
func TestStoppedGuestIsGivenUp(t *testing.T) {
	private(t)
	pid := 0
	_, err := guest.Run(context.Background(), guest.Config{
		Kernel: requireKernel(t), Argv: []string{"/bin/sh", "-c",
			"while :; do echo alive; sleep 1; done"}, StallTimeout: 5 * time.Second,
		Show: all, Started: func(p int) { pid = p },
		Line: func(string) { syscall.Kill(pid, unix.SIGSTOP) },
	})
	var death *guest.DeathError
	if !errors.As(err, &death) || !strings.Contains(err.Error(), "no sign of progress for") ||
		!strings.Contains(err.Error(), "alive") {
		t.Errorf("error %v", err)
	}
	if syscall.Kill(pid, 0) == nil {
		t.Error("its kernel is still there")
	}
}
