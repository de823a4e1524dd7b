//go:build linux

package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/sandbox"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// The test binary also plays the parts of a run:
//
//	front       enters a sandbox and waits
//	lost        the same, and what it starts gets no death signal
//	flees       the same, and it is gone at once
//	interrupts  enters a sandbox, interrupts it at once, and waits
//	worker      inside it: builds a fabric, starts a host process and an orphan
//	host        sleeps in a host's namespace
//	exit        inside: exits with status 7
//	killed      inside: ends by a signal
//	stops       inside: ends when it is interrupted
//	reap        inside: leaves an orphan and looks for zombies
//
// All carry one token as argument, by which the test finds them in /proc.

// play plays a part and returns the exit status.
func play(role string) int {
	if err := sandbox.SetupInit(); err != nil { // only the worker gets past this
		fmt.Println("failed:", err)
		return 1
	}
	part := map[string]func() error{"worker": playWorker, "host": playHost, "reap": playReap, "stops": playStops}[role]
	kind, inside, isFront := strings.Cut(role, "-")
	switch {
	case role == "exit":
		return 7
	case role == "killed":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	case isFront:
		part = func() error { return playFront(kind, inside) }
	case part == nil:
		part = func() error { return fmt.Errorf("no role %q", role) }
	}
	err := part()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Println("failed:", err)
		return 1
	}
	return 0
}

func token() string { return os.Args[len(os.Args)-1] }

func playFront(kind, inside string) error {
	os.Setenv(roleVar, inside)
	box, err := sandbox.New(token())
	if err != nil {
		return err
	}
	if kind == "lost" || kind == "flees" {
		box.Command.SysProcAttr.Pdeathsig = 0
	}
	if err := box.Start(); err != nil {
		return err
	}
	switch kind {
	case "flees":
		return unix.Kill(os.Getpid(), unix.SIGKILL)
	case "interrupts":
		box.Interrupt()
	}
	return box.Wait()
}

func playWorker() error {
	topology, err := topo.New(topo.Spec{Leaves: 3, HostsPerLeaf: 2, Spines: 4, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps})
	if err != nil {
		return err
	}
	f, err := fabric.Build(context.Background(), topology, fabric.Config{})
	if err != nil {
		return err
	}
	if err := f.Do(0, func() error { return startRole("host").Start() }); err != nil {
		return err
	}
	// An orphan: its parent, a shell, ends at once.
	os.Setenv(roleVar, "host")
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := exec.Command("/bin/sh", "-c", `"$0" "$1" &`, program, token()).Run(); err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	return nil
}

func startRole(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", token())
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	return cmd
}

func playHost() error {
	time.Sleep(time.Minute)
	return nil
}

func playStops() error {
	select {
	case <-sandbox.Interrupts():
		fmt.Println("ready")
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("the interrupt was lost")
	}
}

func playReap() error {
	if err := exec.Command("/bin/sh", "-c", "sleep 0.1 &").Run(); err != nil {
		return err
	}
	for range 200 {
		time.Sleep(20 * time.Millisecond)
		states, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil || len(states) < 2 {
			return fmt.Errorf("processes %v (%v): want at least a supervisor and a worker", states, err)
		}
		if len(states) == 2 { // orphan gone, and no zombie left of it
			fmt.Println("ready")
			return nil
		}
	}
	return errors.New("an orphan that ended was not reaped")
}

// newFront prepares a process of a role that is a front's.
func newFront(t *testing.T, role string) (cmd *exec.Cmd, tok string) {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	tok = fmt.Sprintf("sirdbed-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd = exec.Command("/proc/self/exe", tok)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd, tok
}

// front starts a front and returns it once the inside is ready.
func front(t *testing.T, role string) (cmd *exec.Cmd, tok string) {
	t.Helper()
	cmd, tok = newFront(t, role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line := make(chan string, 1)
	go func() {
		r := bufio.NewReader(out)
		s, _ := r.ReadString('\n')
		line <- s
		io.Copy(io.Discard, r)
	}()
	select {
	case s := <-line:
		if strings.TrimSpace(s) != "ready" {
			t.Fatalf("%s: %q", role, s)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: not ready after 20 s", role)
	}
	return cmd, tok
}

// processes finds the processes that carry a token, by their role.
func processes(t *testing.T, tok string) map[string][]int {
	t.Helper()
	found := map[string][]int{}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		args, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(args, []byte(tok)) {
			continue // ended meanwhile, or another's
		}
		env, _ := os.ReadFile(filepath.Dir(path) + "/environ")
		role := "?"
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if r, ok := bytes.CutPrefix(v, []byte(roleVar+"=")); ok {
				role = string(r)
			}
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		found[role] = append(found[role], pid)
	}
	return found
}

// Killing the front, the supervisor or the worker ends every process of the run
// and frees its namespaces: a veth that the test plugs into a host's namespace
// goes with it.
func TestKilledRunLeavesNothing(t *testing.T) {
	for name, victim := range map[string]struct {
		front  string // what it is
		role   string
		number int // of the role, in the order in which they began
	}{
		"front":                        {"front-worker", "front-worker", 0},
		"front without a death signal": {"lost-worker", "lost-worker", 0},
		"supervisor":                   {"front-worker", "worker", 0},
		"worker":                       {"front-worker", "worker", 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, tok := front(t, victim.front)
			before := processes(t, tok)
			// Two workers are supervisor and worker, two hosts are host and orphan.
			for role, want := range map[string]int{victim.front: 1, "worker": 2, "host": 2} {
				if len(before[role]) != want {
					t.Fatalf("processes %v: want %d of %s", before, want, role)
				}
			}
			plug := plugInto(t, before["host"])
			pids := before[victim.role]
			slices.Sort(pids)
			if err := unix.Kill(pids[victim.number], unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			vanish(t, tok, plug)
		})
	}
}

// vanish waits until no process carries a token, at most 10 s, and nothing else is
// there.
func vanish(t *testing.T, tok string, also func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for len(processes(t, tok)) > 0 || also() {
		if time.Now().After(deadline) {
			t.Fatalf("10 s after the kill: processes %v, namespace still there: %v", processes(t, tok), also())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A front that is gone before the sandbox begins, and before its death signal was set,
// leaves none.
func TestSandboxOfNobody(t *testing.T) {
	cmd, tok := newFront(t, "flees-worker")
	if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the front ended with %v", err)
	}
	vanish(t, tok, func() bool { return false })
}

// An interrupt reaches a worker that has not begun yet.
func TestInterruptIsNotLost(t *testing.T) {
	cmd, _ := front(t, "interrupts-stops")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// plugInto makes a veth between a namespace of the test's and that of the first
// process that has one of its own, and returns what reports whether it is there.
func plugInto(t *testing.T, pids []int) func() bool {
	t.Helper()
	mine := nstest.Namespace(t)
	h := mine.Handle(t)
	err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "plug"}, PeerName: "plug",
		PeerNamespace: netlink.NsPid(pids[0])})
	if err != nil {
		t.Fatalf("plug into the namespace of process %d: %v", pids[0], err)
	}
	return func() bool {
		_, err := h.LinkByName("plug")
		return err == nil
	}
}

// A worker's exit status is the sandbox's; a signal's is as a shell has it.
func TestSandboxPassesTheExitStatusOn(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	for role, want := range map[string]int{"exit": 7, "killed": 128 + 9} {
		t.Run(role, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "token")
			cmd.Env = append(os.Environ(), roleVar+"=front-"+role)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != want {
				t.Errorf("got %v, want status %d: %s", err, want, out)
			}
		})
	}
}

// A stray variable in the environment does not make a process one of a sandbox.
func TestOnlySandboxesStartTheirProcesses(t *testing.T) {
	if os.Getpid() == 1 {
		t.Skip("this is process 1")
	}
	for _, role := range []string{"supervisor", "worker", "1"} {
		t.Setenv("SIRDBED_SANDBOX", role)
		if err := sandbox.SetupInit(); !errors.Is(err, emu.ErrInner) || !strings.HasSuffix(err.Error(), "="+role+
			" in its environment") {
			t.Errorf("%s: got %v, want %v", role, err, emu.ErrInner)
		}
	}
}

func TestSupervisorReapsOrphans(t *testing.T) {
	cmd, _ := front(t, "front-reap")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSetupInitDoesNothingOutside(t *testing.T) {
	if sandbox.InSandbox() {
		t.Skip("inside a sandbox")
	}
	if err := sandbox.SetupInit(); err != nil {
		t.Error(err)
	}
}
