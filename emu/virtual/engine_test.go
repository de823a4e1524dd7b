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
	"sirdbed/emu/real"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Memory grows with hosts, frames and captures.
func TestMemory(t *testing.T) {
	fabric := func(hosts int, mtu units.Bytes) *topo.Fabric {
		f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: 2000,
			MTU: mtu})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	captures := func(names ...string) *emu.Experiment { return &emu.Experiment{Protocol: "sird", Capture: names} }
	few, many := memory(fabric(4, 1500), captures()), memory(fabric(100, 1500), captures())
	if per := (many - few) / 96; per != 14<<20+rxFrames*2048 {
		t.Errorf("%d bytes a host", per)
	}
	if big := memory(fabric(4, 9000), captures()); big-few != 4*rxFrames*(16384-2048) {
		t.Errorf("jumbo frames take %d more", big-few)
	}
	// A leaf of 4 ports, and one port of it named too.
	if taps := memory(fabric(4, 1500), captures("leaf1", "leaf1>h1-2", "nobody")); taps-few != 4*real.TapMemory {
		t.Errorf("captures take %d more", taps-few)
	}
	if long := memory(fabric(4, 1500), &emu.Experiment{Protocol: "sird",
		Duration: 10 * units.Millisecond}); long-few != 4*10<<20 {
		t.Errorf("10 ms take %d more", long-few)
	}
}

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
			facts, err := complete(opened(t, dir), &emu.Facts{Engine: "virtual", Dilation: 1000, Reached: 5}, c.failure)
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
