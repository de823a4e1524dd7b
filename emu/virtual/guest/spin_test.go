//go:build linux

package guest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// Of what a guest's kernel has started, the one that alone computes is found, if nothing
// is written meanwhile; not before its time, and not among others that compute too.
func TestSpinWatch(t *testing.T) {
	start := func() int {
		cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process.Pid
	}
	const limit = 100 * time.Millisecond
	compute := func(pids ...int) { // each for more than the limit
		t.Helper()
		for _, pid := range pids {
			before := processorTime(pid)
			for began := time.Now(); processorTime(pid)-before < 3*limit; time.Sleep(time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatalf("process %d takes no processor time", pid)
				}
			}
		}
	}
	kernel := os.Getpid() // in its place: the shells are its children
	one := start()
	found := false
	for _, p := range childrenOf(kernel) {
		found = found || p == one
	}
	if !found {
		t.Fatalf("process %d is not among the children", one)
	}
	written := time.Now()
	w := spinWatch{}
	if pid := w.look(kernel, written, limit); pid != 0 {
		t.Errorf("at the first look %d is found", pid)
	}
	compute(one)
	if pid := w.look(kernel, written, time.Hour); pid != 0 {
		t.Errorf("before its time %d is found", pid)
	}
	if pid := w.look(kernel, written.Add(1), limit); pid != 0 {
		t.Errorf("%d is found although the guest has written", pid)
	}
	compute(one)
	if pid := w.look(kernel, written.Add(1), limit); pid != one {
		t.Errorf("got %d, want %d, which spins", pid, one)
	}
	other := start()
	w.look(kernel, written, limit)
	compute(one, other)
	if pid := w.look(kernel, written, limit); pid != 0 {
		t.Errorf("%d is found although two compute", pid)
	}
}
