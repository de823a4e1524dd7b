//go:build linux

package virtual

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/topo/units"
)

// The console's lines for the engine are told from those for people.
func TestConsole(t *testing.T) {
	var reached []units.Time
	killed := make(chan bool, 1)
	c := &console{progress: func(at units.Time) { reached = append(reached, at) }, kill: func() { killed <- true }}
	for _, line := range []string{
		reachedMark + "17", reachedMark + "nonsense", reachedMark + "42", "a word",
		failedMark + `"h1-1 died:\nsignal"`, " Out of memory: Killed process 5 (exe)",
		"Out of memory: Killed process 6 (exe)",
	} {
		c.line(line)
	}
	if len(reached) != 2 || c.reached != 42 || c.failure != "h1-1 died:\nsignal" ||
		c.oom != "Out of memory: Killed process 5 (exe)" || len(c.others) != 3 {
		t.Errorf("%v, %+v", reached, c)
	}
	for range 30 {
		c.line("more")
	}
	if len(c.others) != 10 {
		t.Errorf("%d lines are kept, want 10", len(c.others))
	}
	<-killed
}

// What the guest wrote is kept, what only the machine knows is added; where the
// guest wrote nothing the failure is told.
func TestComplete(t *testing.T) {
	failure := errors.New("the guest died")
	for name, c := range map[string]struct {
		written string
		failure error
		want    string // the failure in the facts
		reached units.Time
	}{
		"well":              {`{"engine":"virtual","reached":"9ns","dilation":50}`, nil, "", 9},
		"died":              {"", failure, "the guest died", 5},
		"died half-way":     {`{"engine":"virt`, failure, "the guest died", 5},
		"no facts":          {"", nil, "the guest left no facts", 5},
		"failed and told":   {`{"engine":"virtual","reached":"9ns","failure":"h1-1 died"}`, failure, "h1-1 died", 9},
		"died after facts":  {`{"engine":"virtual","reached":"9ns"}`, failure, "the guest died", 9},
		"facts are garbage": {`{"engine":7}`, nil, "the guest left no facts", 5},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.written != "" {
				if err := os.WriteFile(filepath.Join(dir, "facts.json"), []byte(c.written), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			facts := &emu.Facts{Engine: "virtual", Dilation: 1000, Reached: 5}
			facts, err := complete(rundir.Open(t, dir), facts, c.failure)
			if (err == nil) != (c.want == "") || !strings.HasPrefix(facts.Failure, c.want) ||
				facts.Reached != c.reached || facts.CPUs == 0 || facts.Engine != "virtual" {
				t.Errorf("got %v and %+v, want the failure %q at %v", err, facts, c.want, c.reached)
			}
			var back emu.Facts
			text, _ := os.ReadFile(filepath.Join(dir, "facts.json"))
			if err := json.Unmarshal(text, &back); err != nil || back.Failure != facts.Failure ||
				back.Reached != facts.Reached {
				t.Errorf("written %s, %v; want the failure %q at %v", text, err, facts.Failure, facts.Reached)
			}
		})
	}
}
