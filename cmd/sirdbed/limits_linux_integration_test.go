//go:build linux && !portable

package main

import (
	"os"
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
		{"files on virtual", "virtual", "ulimit -n 24", []string{"the run takes 43", files + "24", "ulimit -n 43"}},
		{"addresses on real", "real", "ulimit -v 1500000", []string{addresses + "1464", "ulimit -v unlimited"}},
		{"addresses on virtual", "virtual", "ulimit -v 1500000", []string{addresses + "1464", "ulimit -v unlimited"}},
		{"data on virtual", "virtual", "ulimit -d 1500000", []string{addresses + "1464", "ulimit -d unlimited"}},
		{"soft on real", "real", "ulimit -S -n 24", nil},
		{"soft on virtual", "virtual", "ulimit -S -n 12", nil},
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
			for _, want := range append(c.want, "cannot run here") {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in what it says:\n%s", want, said)
				}
			}
		})
	}
}
