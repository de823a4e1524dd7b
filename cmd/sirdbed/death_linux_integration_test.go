//go:build linux && !portable

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// hostPID finds the process of a host of the run that is up and whose name ends
// as given, once it is.
func (b *program) hostPID(run, host string) (pid int) {
	b.t.Helper()
	b.t.Setenv(runtimeDirVar, filepath.Join(b.dir, "runtime"))
	found := within(b.t.Context(), 20*time.Second, func() bool {
		list, err := states()
		if err != nil {
			b.t.Fatal(err)
		}
		for _, s := range list.live {
			for _, h := range s.Hosts {
				if strings.HasSuffix(s.Run, run) && h.Name == host {
					pid, _ = localPID(s.PIDNamespace, h.PID)
				}
			}
		}
		return pid > 0
	})
	if !found {
		b.t.Fatalf("no run %s with a host %s came up", run, host)
	}
	return pid
}

// A host that dies ends its variant, with its standard error where there is any. What
// was measured until then is kept, and so are the other variants.
func TestDeadHostFailsTheRunAndKeepsWhatWasMeasured(t *testing.T) {
	b := build(t)
	b.write("deaths.yaml", realScenario+`variants:
  - {name: fine, duration: 1ms}
  - {name: killed, duration: 1s}
  - {name: aborted, duration: 1s}
  - {name: after, duration: 1ms}
`)
	before := b.traces()
	run := b.command("run", "deaths.yaml", "--out", "r")
	var stdout, stderr strings.Builder
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var during traces
	for _, d := range []struct {
		variant, host string
		signal        syscall.Signal
	}{{"killed", "h1-2", syscall.SIGKILL}, {"aborted", "h1-3", syscall.SIGABRT}} {
		pid := b.hostPID("-"+d.variant, d.host)
		time.Sleep(700 * time.Millisecond) // logs are written every 200 ms
		during = b.traces()
		if err := syscall.Kill(pid, d.signal); err != nil {
			t.Fatal(err)
		}
	}
	if got := code(run.Wait()); got != exitFailed {
		t.Errorf("exit code %d", got)
	}
	for _, want := range []string{
		"the process of host h1-2 (pid ", "died: signal: killed, with nothing on its standard error",
		"the process of host h1-3 (pid ", "its standard error:\nSIGABRT: abort", "sirdnode/node.(*node).loop",
		"[4/4] after: done", "2 of 4 variants failed: killed, aborted",
	} {
		if strings.Count(stderr.String(), want) != 1 {
			t.Errorf("stderr has %q %d times:\n%s", want, strings.Count(stderr.String(), want), stderr.String())
		}
	}
	if !strings.Contains(stdout.String(), "its standard error: SIGABRT: abort\n") {
		t.Errorf("the verdict's reasons lack its standard error:\n%s", stdout.String())
	}
	summary, variants := b.result("r")
	if summary.Verdict != results.Invalid || len(variants) != 4 {
		t.Fatalf("verdict %s, %d variants", summary.Verdict, len(variants))
	}
	for _, v := range variants {
		delivered := 0
		for i := range v.Messages {
			if v.Messages[i].Delivered != units.Never {
				delivered++
			}
		}
		broken := v.Name == "killed" || v.Name == "aborted"
		if level := check(v, "run").Level; (level == results.Invalid) != broken {
			t.Errorf("%s: run is %s", v.Name, level)
		}
		if c := check(v, "integrity"); c.Level != results.Pass {
			t.Errorf("%s: %s", v.Name, c.Found)
		}
		if delivered < 20 || !broken && delivered != len(v.Messages) {
			t.Errorf("%s: %d of %d messages", v.Name, delivered, len(v.Messages))
		}
		t.Logf("%s: %d messages, %s", v.Name, delivered, v.Verdict.Level)
	}
	b.vanished(before, during)
}
