//go:build linux

package sandbox_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"sirdbed/emu/sandbox"
	"sirdbed/sirdnode/nstest"
)

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
			// Two workers are supervisor and worker, two hosts are host and orphan.
			before := appear(t, tok, map[string]int{victim.front: 1, "worker": 2, "host": 2})
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

// appear waits until a token's processes are those wanted of each role, at most 10 s:
// the orphan's shell has ended when the inside is ready, the orphan may not have begun.
func appear(t *testing.T, tok string, want map[string]int) map[string][]int {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		found := processes(t, tok)
		if maps.EqualFunc(found, want, func(pids []int, n int) bool { return len(pids) == n }) {
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("10 s after the inside was ready: processes %v, want %v", found, want)
		}
		time.Sleep(10 * time.Millisecond)
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

// Supervisor and worker keep files open, in their order, until both have ended.
func TestKeptFilesAreTheWorkers(t *testing.T) {
	cmd, _ := front(t, "keeps-kept")
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
		if err := sandbox.SetupInit(); !errors.Is(err, emu.ErrInner) || !strings.Contains(err.Error(), "="+role+
			" in its environment: unset it") {
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
