//go:build linux && !portable

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// With --hold a fabric stays up when its run is over, for exec; an interrupt
// then is no interruption, and what happened in the meantime is in no figure.
func TestHoldKeepsTheFabricUp(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("nsenter is not installed")
	}
	b := build(t)
	before := b.traces()
	run := b.command("run", "real.yaml", "--out", "r", "--hold", "--set", "duration=2ms")
	stderr, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "the fabric is kept up: enter it with sirdbed exec") {
		said.WriteString(lines.Text() + "\n")
	}
	const held = 2 * time.Second
	until := time.Now().Add(held)
	for _, host := range []string{"h1-1", "h1-3"} {
		out, err := b.command("exec", host, "cat", "/proc/net/dev").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "leaf1:") {
			t.Errorf("exec %s: %v: %s (%s)", host, err, out, said.String())
		}
	}
	time.Sleep(time.Until(until))
	during := b.traces()
	run.Process.Signal(os.Interrupt)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
	}
	got := code(run.Wait())
	if got != exitFine && got != exitInvalid || strings.Contains(said.String(), "interrupted") {
		t.Errorf("exit code %d\n%s", got, said.String())
	}
	s, variants := b.result("r")
	if v := variants[0]; v.Facts.Failure != "" || len(v.Messages) < 50 || s.WallSeconds > 2 {
		t.Errorf("%d messages in %.1f s: %s", len(v.Messages), s.WallSeconds, v.Facts.Failure)
	}
	b.vanished(before, during)
}
