//go:build linux && !portable

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A shell whose limits are too low for a run is told before the run what it would
// take and how to get it. A soft limit is no limit.
func TestLimitsThatAreTooLow(t *testing.T) {
	const files, addresses = " open files, and a process may have ", " MB of addresses, and a process may have "
	for _, c := range []struct {
		name, engine, limit string
		want                []string // nil: it runs
	}{
		{"files on real", "real", "ulimit -n 24", []string{"the run takes 54", files + "24", "ulimit -n 54"}},
		{"files on virtual", "virtual", "ulimit -n 24", []string{"the run takes 46", files + "24", "ulimit -n 46"}},
		{"files on model", "model", "ulimit -n 12", []string{"the run takes 20", files + "12", "ulimit -n 20"}},
		{"files for a sandbox", "real", "ulimit -n 9", []string{"the run takes 54", files + "9", "ulimit -n 54"}},
		{"size on virtual", "virtual", "ulimit -f 1024", []string{" MB in a file, and a process may have ",
			"ulimit -f unlimited"}},
		{"addresses on real", "real", "ulimit -v 2000000", []string{addresses + "1953", "ulimit -v unlimited"}},
		{"addresses on virtual", "virtual", "ulimit -v 2000000", []string{addresses + "1953", "ulimit -v unlimited"}},
		{"data on virtual", "virtual", "ulimit -d 2000000", []string{addresses + "1953", "ulimit -d unlimited"}},
		{"soft on real", "real", "ulimit -S -n 24", nil},
		{"soft on virtual", "virtual", "ulimit -S -n 12", nil},
		{"just enough on model", "model", "ulimit -n 20", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t)
			if c.engine == "virtual" {
				if _, err := haveKernel(t); err != nil {
					t.Skip(err)
				}
			}
			said, err := b.sh(c.limit +
				"; exec $SIRDBED run real.yaml --out out --set duration=1ms --engine " + c.engine)
			_, there := os.Stat(filepath.Join(b.dir, "out", "summary.json"))
			if c.want == nil {
				if got := code(err); got == exitFailed || there != nil {
					t.Errorf("exit code %d, want that it runs:\n%s", got, said)
				}
				return
			}
			if got := code(err); got != exitFailed || there == nil {
				t.Errorf("exit code %d, results: %v; want %d and none", got, there == nil, exitFailed)
			}
			if strings.Contains(said, "--engine") {
				t.Errorf("another engine is offered, which has the same limit:\n%s", said)
			}
			for _, want := range append(c.want, "cannot run here") {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in what it says:\n%s", want, said)
				}
			}
		})
	}
}

// So it is with processes, which an ordinary user has a limit of.
func TestLimitOfProcesses(t *testing.T) {
	b := build(t)
	for _, program := range []string{"setpriv", "bash"} { // not every sh has ulimit -u
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skipf("takes root and %s: %v", program, err)
		}
	}
	const said = " more processes and threads, and a process may have "
	for limit, refused := range map[string]bool{"30": true, "400": false} {
		out, err := b.sh("exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -c 'ulimit -u " + limit +
			" && exec $SIRDBED run quickstart --engine real --set duration=1ms --out out'")
		got := strings.Contains(out, said) && strings.Contains(out, "raise it with ulimit -u ") &&
			code(err) == exitFailed
		if got != refused || code(err) == exitFine { // since nobody may not write there
			t.Errorf("ulimit -u %s: %v, want it refused for that: %v:\n%s", limit, err, refused, out)
		}
	}
}

// Where doctor cannot start a sandbox for want of descriptors, no feature is missing.
func TestDoctorWithFewDescriptors(t *testing.T) {
	b := build(t)
	said, err := b.sh("ulimit -n 9; exec $SIRDBED doctor")
	if code(err) != exitFailed || !strings.Contains(said, "raise the limit of open files") ||
		strings.Contains(said, "privileged") {
		t.Errorf("exit code %d, want %d and the limit alone:\n%s", code(err), exitFailed, said)
	}
}

// Files that may not grow are one error; what they have by then is kept.
func TestLimitOfFileSize(t *testing.T) {
	b := build(t)
	const cause = "ulimit -f unlimited, or put results on another file system with --out"
	for _, engine := range []string{"model", "real"} {
		said, err := b.sh("ulimit -f 16; exec $SIRDBED run real.yaml --set duration=40ms --out " + engine +
			" --engine " + engine + " | cat")
		info, there := os.Stat(filepath.Join(b.dir, engine, "variants", "sird", "hosts", "h1-1.rec"))
		if strings.Count(said, cause) != 1 || there != nil || info.Size() == 0 {
			t.Errorf("%s: got %v, logs: %v; want one error, and logs:\n%s", engine, err, there == nil, said)
		}
	}
	said, err := b.sh("ulimit -f 0; $SIRDBED run real.yaml --out none --engine model 2>&1 | cat")
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, cause) {
		t.Errorf("got %v, want one line:\n%s", err, said)
	}
}
