//go:build linux

package virtual

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sirdbed/emu/virtual/guest"
	"sirdbed/emu/virtual/kernel"
)

// requireKernel skips where the guest's kernel is not built, which
// SIRDBED_REQUIRE_KERNEL=1 turns into a failure. It fails if the cache cannot be read.
func requireKernel(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SIRDBED_KERNEL"); path != "" {
		return path
	}
	var built kernel.Built
	cache, err := kernel.UserCache()
	if err == nil {
		built, err = cache.Find()
	}
	switch {
	case errors.Is(err, kernel.ErrNotBuilt) && os.Getenv("SIRDBED_REQUIRE_KERNEL") != "1":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return built.Path
}

// all is shown to commands of the machine's.
var all = []string{"/"}

// inGuest runs a command in a guest and returns its exit code and what it said.
func inGuest(t *testing.T, c guest.Config) (exit int, said string, err error) {
	t.Helper()
	c.Kernel = requireKernel(t)
	if c.Show == nil {
		c.Show = all
	}
	var lines []string
	c.Line = func(line string) { lines = append(lines, line) }
	if c.StallTimeout == 0 {
		c.StallTimeout = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	exit, err = guest.Run(ctx, c)
	return exit, strings.Join(lines, "\n"), err
}

// The tests of ports, wires, fabrics, rings and clocks pass on the guest's kernel:
// RED and netem in place of eBPF and host delay, and, with exact time, claims to
// the packet and the ns (TestExact...).
func TestConformanceInGuest(t *testing.T) {
	requireKernel(t)
	for _, pkg := range []string{"emu/fabric/port", "emu/fabric", "emu/sandbox", "sirdnode/ring", "sirdnode/clock",
		"baselines/tcp/sockets"} {
		t.Run(pkg, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "tests")
			build := exec.Command("go", "test", "-c", "-o", binary, "sirdbed/"+pkg)
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			dir, err := filepath.Abs(filepath.Join("../..", pkg))
			if err != nil {
				t.Fatal(err)
			}
			exit, said, err := inGuest(t, guest.Config{
				Argv: []string{binary, "-test.v", "-test.timeout=1h", "-test.skip=" + notInGuests}, Dir: dir,
				Memory: 2 << 30,
				// Go's collector, between two packets of a burst, would move the second.
				Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "TMPDIR=/run/tmp",
					"SIRDBED_REQUIRE_NETNS=1", noCollector},
			})
			t.Log(said) // with -v, the figures of what is exact
			if err != nil || exit != 0 {
				t.Errorf("exit code %d, %v", exit, err)
			}
			if !slices.Contains([]string{"emu/sandbox", "sirdnode/ring", "baselines/tcp/sockets"}, pkg) &&
				!strings.Contains(said, "--- PASS: TestExact") {
				t.Error("no exact claim was checked")
			}
		})
	}
}

// notInGuests are tests that take a clock on which time passes by itself.
const notInGuests = "TestSleepLetsTheGarbageCollectorIn|TestSleepInterruptedIsNotEarly|Throughput|TestTracksAStep|" +
	"TestPumpConservesFrames"

// Registers survive whatever may come between two instructions of a thread, also where
// ptrace stops each system call.
func TestFloatingPointState(t *testing.T) { testInC(t, "testdata/fp.c", "survives") }

// So they do between a system call and its result, and a debugger sees and changes them.
func TestRegistersOfSystemCalls(t *testing.T) { testInC(t, "testdata/calls.c", "every call went well") }

// testInC runs a program in guests that learn of system calls in each of the two ways.
func testInC(t *testing.T, source, says string) {
	requireKernel(t)
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	build := exec.Command(compiler, "-O2", "-static", "-pthread", "-o", program, source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	for _, traced := range []bool{false, true} {
		exit, said, err := inGuest(t, guest.Config{Argv: []string{program}, Traced: traced})
		if err != nil || exit != 0 || !strings.Contains(said, says) {
			t.Errorf("traced %v: exit code %d, %v\n%s", traced, exit, err, said)
		}
	}
}

func TestGuestPassesExitCodesOn(t *testing.T) {
	exit, said, err := inGuest(t, guest.Config{Argv: []string{"/bin/sh", "-c", "echo hello; exit 7"}})
	if exit != 7 || err != nil || !strings.Contains(said, "hello") {
		t.Errorf("exit code %d, %v, %q", exit, err, said)
	}
}

// Real time does not count in a guest, nor its own time outside.
func TestGuestTimeIsVirtual(t *testing.T) {
	began := time.Now()
	exit, said, err := inGuest(t, guest.Config{Argv: []string{"/bin/sh", "-c", "sleep 100000; date +%s"}})
	if exit != 0 || err != nil || !strings.HasPrefix(said, "17001000") {
		t.Errorf("exit code %d, %v, %q", exit, err, said)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("a day of sleep took %v", took)
	}
}

// A guest sees what it is shown, and writes there. It finds nothing else of the
// machine's files: not under its name, and, where this machine has Landlock, not by
// mounting where a link of its own leads to.
func TestGuestSeesWhatItIsShown(t *testing.T) {
	shown, secret := filepath.Join(t.TempDir(), "a b,c"), filepath.Join(t.TempDir(), "secret")
	if err := os.Mkdir(shown, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	exit, said, err := inGuest(t, guest.Config{
		Argv: []string{"/proc/self/exe", lookArgument, shown, secret}, Show: []string{shown},
	})
	if exit != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", exit, err, said)
	}
	want := []string{"by its name: no such file or directory"}
	if guest.ProbeConfinement() == nil {
		want = append(want, "by a link: permission denied")
	}
	for _, line := range want {
		if !strings.Contains(said, line) {
			t.Errorf("no %q in what it says:\n%s", line, said)
		}
	}
	if text, err := os.ReadFile(filepath.Join(shown, "written")); string(text) != "in the guest" {
		t.Errorf("it wrote %q (%v), want %q", text, err, "in the guest")
	}
}

// With too little memory to boot, the kernel's own last lines are the error.
func TestGuestPanicIsExplained(t *testing.T) {
	_, _, err := inGuest(t, guest.Config{Argv: []string{"/bin/true"}, Memory: 12 << 20, StallTimeout: 20 * time.Second})
	var death *guest.DeathError
	if !errors.As(err, &death) || len(death.Last) == 0 {
		t.Errorf("error %v", err)
	}
	t.Log(err)
}

// A silent guest is given up, one that is asked to stop is left to do so, and
// neither leaves anything behind.
func TestGuestIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, _, err := inGuest(t, guest.Config{Argv: []string{"/bin/sh", "-c", "echo alive; while :; do :; done"},
		StallTimeout: 2 * time.Second})
	var death *guest.DeathError
	if !errors.As(err, &death) || !strings.Contains(err.Error(), "no sign of progress") ||
		!strings.Contains(err.Error(), "alive") {
		t.Errorf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
