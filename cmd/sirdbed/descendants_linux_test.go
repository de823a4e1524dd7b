//go:build linux && !portable

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/cmd/sirdbed/hostfirst"
)

// adopt has every process that the test starts, however deep, come to it when its
// parent is gone, so that none gets out of descendants' sight.
func adopt(t *testing.T) {
	t.Helper()
	set := func(on uintptr) error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0) }
	if err := set(1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set(0) })
}

// A descendant is a process that a test has started, directly or not.
type descendant struct {
	pid int
	// kind is front, supervisor, worker, host, kernel, inside (a guest), cleaner or restorer, as a run has them, or "".
	kind string
}

// descendants lists those that live, parents first.
func descendants() (list []descendant) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		_, rest, _ := bytes.Cut(text, []byte(") "))
		f := bytes.Fields(rest)
		if len(f) < 2 {
			continue // gone
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(string(f[1]))
		if string(f[0]) != "Z" || !dead(filepath.Dir(path)) {
			children[parent] = append(children[parent], pid)
		}
	}
	var visit func(pid int, parent string)
	visit = func(pid int, parent string) {
		for _, child := range children[pid] {
			kind := kindOf(child, parent)
			list = append(list, descendant{child, kind})
			visit(child, kind)
		}
	}
	visit(os.Getpid(), "")
	return list
}

// kindOf finds out what a process is in a run.
func kindOf(pid int, parent string) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	switch {
	case slices.Contains(args, "umid=guest") && parent != "kernel":
		return "kernel"
	case parent == "kernel" || parent == "inside":
		return "inside"
	case len(args) < 2:
		return ""
	case args[1] == hostfirst.Command:
		return "host"
	case args[1] == "guest-cleaner":
		return "cleaner"
	case args[1] == restorerCommand:
		return "restorer"
	case args[1] != "run":
		return ""
	}
	for v := range bytes.SplitSeq(environment, []byte{0}) {
		if role, ok := bytes.CutPrefix(v, []byte("SIRDBED_SANDBOX=")); ok {
			return string(role)
		}
	}
	return "front"
}

// reap takes the exit status of orphans that adopt has left to this process.
func reap(orphans []descendant) {
	for _, o := range orphans {
		_, _ = unix.Wait4(o.pid, nil, unix.WNOHANG, nil)
	}
}
