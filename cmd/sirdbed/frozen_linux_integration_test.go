//go:build linux && !portable

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
)

// A process that is stopped for a while is in no percentile of lateness, but what it
// should have done is missing from the figures: such a run does not pass.
func TestFrozenProcessesAreSeen(t *testing.T) {
	b := build(t)
	for _, c := range []struct {
		name  string
		check string
		found string
		pid   func() int
	}{
		{"host", "stalls", "h1-4, at most ", func() int { return b.hostPID("-sird", "h1-4") }},
		{"controller", "queue sampling", "gaps ", func() int {
			b.hostPID("-sird", "h1-4") // it is up
			for _, p := range b.processes() {
				if p.sandbox == "worker" && !p.isHost() {
					return p.pid
				}
			}
			return 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// 3.6 s: the window is from 0.6 s on.
			run := b.command("run", "quickstart", "--out", c.name, "--dilation", "2000",
				"--set", "warmup=300us", "--set", "duration=1500us")
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			pid := c.pid()
			if pid <= 0 {
				t.Fatal("no such process")
			}
			time.Sleep(1200 * time.Millisecond)
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Millisecond)
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			run.Wait() // a bound is missed, or not
			summary, _ := b.result(c.name)
			var found string
			for _, check := range summary.Variants[0].Checks {
				if check.Name == c.check && check.Level != results.Pass {
					found = check.Found
				}
			}
			if summary.Verdict == results.Pass || !strings.Contains(found, c.found) {
				t.Errorf("verdict %s %q, and %s says %q: want it to say %q",
					summary.Verdict, summary.Reasons, c.check, found, c.found)
			}
		})
	}
}
