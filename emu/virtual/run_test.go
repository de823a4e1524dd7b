//go:build linux

package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func pair() *emu.Experiment {
	return &emu.Experiment{
		Protocol: "sird", Seed: 3, Duration: units.Millisecond,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: 2000},
	}
}

// fakeKernel is a shell script in place of a kernel: it runs in the scratch
// directory, and DIR is the run's.
func fakeKernel(t *testing.T, dir, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "linux")
	text := "#!/bin/sh\nDIR=" + dir + "\n" + script
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// However a guest ends, the error has its reason and the facts are written down.
func TestRunByTheGuestsEnd(t *testing.T) {
	const well = `echo '{"engine":"virtual","reached":"9ns","dilation":1000}' >$DIR/facts.json; `
	for _, c := range []struct {
		name, script string
		want         string // of the error, "" for none
		reached      units.Time
	}{
		{"well", well + `echo "#reached 5"; echo "#guest exit 0"`, "", 9},
		{"no facts", `echo "#reached 5"; echo "#guest exit 0"`, "the guest left no facts", 5},
		{"the run failed", well + `printf '%s\n' '#failed "host h1-1 died:\nkilled"'; echo "#guest exit 0"`,
			"host h1-1 died:\nkilled", 9},
		{"the controller failed", `echo one; echo "#starting 25"; echo two; echo "#guest exit 3"`,
			"exit code 3:\n  one\n  two", 0},
		{"a panic", `echo "#reached 7"; echo "Kernel panic - not syncing: VFS"; kill -9 $$`,
			"the guest died: Kernel panic - not syncing: VFS", 7},
		{"out of memory", `echo "Out of memory: Killed process 5 (exe)"; exit 1`, "the guest ran out of its ", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var progress []units.Time
			e := &Engine{Kernel: fakeKernel(t, dir, c.script), Command: []string{"controller"}}
			facts, err := e.Run(t.Context(), pair(), rundir.Open(t, dir), emu.Hooks{
				Progress: func(at units.Time) { progress = append(progress, at) }})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q (none if empty)", err, c.want)
			}
			if facts.Reached != c.reached || facts.Dilation != DefaultDilation || facts.Wall <= 0 {
				t.Errorf("got %+v, want that %v were reached at %d, and how long it took", facts, c.reached,
					DefaultDilation)
			}
			var back emu.Facts
			text, _ := os.ReadFile(filepath.Join(dir, emu.FactsFile))
			if err := json.Unmarshal(text, &back); err != nil || (back.Failure == "") != (c.want == "") {
				t.Errorf("wrote %s (%v), want the failure %q", text, err, c.want)
			}
			if reports := strings.Count(c.script, "#reached"); len(progress) != reports {
				t.Errorf("progress is %v, want %d reports", progress, reports)
			}
		})
	}
}

// The controller gets the experiment with its dilation, the run's directory and
// the program of hosts.
func TestJobOfTheController(t *testing.T) {
	dir, x := t.TempDir(), pair()
	e := &Engine{Command: []string{"controller"}, NodeCommand: []string{"node", "arg"},
		Kernel: fakeKernel(t, dir, `cp .guest/input .guest/job.json "$DIR"; echo "#guest exit 1"`)}
	e.Run(t.Context(), x, rundir.Open(t, dir), emu.Hooks{})
	var got job
	var command struct{ Argv []string }
	for name, v := range map[string]any{"input": &got, "job.json": &command} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(text, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got.Experiment.Seed != 3 || got.Experiment.Dilation != DefaultDilation || got.Capture ||
		!slices.Equal(got.Node, e.NodeCommand) {
		t.Errorf("got %+v of %+v, want the experiment at %d, and %q", got, got.Experiment, DefaultDilation,
			e.NodeCommand)
	}
	if want := []string{"controller", dir}; !slices.Equal(command.Argv, want) {
		t.Errorf("the command is %q, want %q", command.Argv, want)
	}
	if x.Dilation != 0 {
		t.Errorf("the caller's experiment has the dilation %d now, want it untouched", x.Dilation)
	}
}

// A run that is canceled asks the guest to stop, which may write down what it has.
func TestCanceledRun(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := &Engine{Command: []string{"controller"}, Kernel: fakeKernel(t, dir, `echo "#reached 5"
		until [ -e .guest/stop ]; do sleep 0.01; done
		echo '{"engine":"virtual","reached":"6ns"}' >$DIR/facts.json; echo "#guest exit 0"`)}
	facts, err := e.Run(ctx, pair(), rundir.Open(t, dir), emu.Hooks{Progress: func(units.Time) { cancel() }})
	if !errors.Is(err, context.Canceled) || facts.Reached != 6 || facts.Failure == "" {
		t.Errorf("got %v and %+v, want it canceled at 6 ns", err, facts)
	}
}

// What cannot run is refused before there is a guest.
func TestRefusedRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*emu.Experiment)
		want     string
		unsuited bool
	}{
		{"topology", func(x *emu.Experiment) { x.Topology.Leaves = 0 }, "leaves", false},
		{"faults of kernel TCP", func(x *emu.Experiment) {
			x.Protocol, x.Faults = "tcp-cubic", fault.Config{Drop: 0.1}
		}, "cannot be given faults", true},
		{"kernel TCP slowed down", func(x *emu.Experiment) { x.Protocol, x.Dilation = "tcp-cubic", 11 },
			"takes a dilation of 1 to 10", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := pair()
			c.change(x)
			_, err := (&Engine{Kernel: "/nowhere"}).Run(t.Context(), x, rundir.Open(t, t.TempDir()), emu.Hooks{})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, emu.ErrUnsuited) != c.unsuited {
				t.Errorf("got %v, want an error with %q, unsuited: %v", err, c.want, c.unsuited)
			}
		})
	}
	e := &Engine{Kernel: "/nowhere", Command: []string{"x"}}
	_, err := e.Run(t.Context(), pair(), rundir.Open(t, t.TempDir()), emu.Hooks{})
	if err == nil || !strings.Contains(err.Error(), "the guest's kernel: open /nowhere") {
		t.Errorf("without a kernel: got %v, want that it is not there", err)
	}
}

func TestDilation(t *testing.T) {
	f, err := topo.New(pair().Topology)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		protocol    string
		asked, want units.Dilation
	}{{"sird", 0, DefaultDilation}, {"sird", 7, 7}, {"tcp-cubic", 0, 9}, {"tcp-cubic", 3, 3}} {
		t.Run(fmt.Sprintf("%s at %d", c.protocol, c.asked), func(t *testing.T) {
			if got := dilation(f, &emu.Experiment{Protocol: c.protocol, Dilation: c.asked}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestControllerIsForGuests(t *testing.T) {
	if err := Inside(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "for the guest") {
		t.Errorf("got %v, want that this is for the guest", err)
	}
}
