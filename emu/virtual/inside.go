//go:build linux

package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/real"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A job is what the engine sends the controller in the guest.
type job struct {
	Experiment *emu.Experiment `json:"experiment"`
	Capture    bool            `json:"capture"`
	Node       []string        `json:"node"` // the program of hosts, with arguments
	// Up says that the fabric is to come up without traffic, for programs: see serve.
	Up bool `json:"up,omitempty"`
	// Part is what the guest has of the fabric, nil for all of it.
	Part *fabric.Part `json:"part,omitempty"`
	// Dir is where programs start.
	Dir string `json:"dir,omitempty"`
}

// Virtual times of the controller.
const (
	// minTick is how often it reports how far it is and looks whether to stop; in a
	// long run it does so maxTicks times.
	minTick  = 20 * time.Millisecond
	maxTicks = 10_000
	// align is what nominal 0 is a multiple of, so that the run does not see how
	// long its preparation took.
	align = time.Second
)

// rxFrames is what may arrive at a host at one instant: nothing ever stalls.
const rxFrames = 256

// noCollector keeps Go's garbage collector out of guests. It stops the world by
// spinning until every thread has noticed, and a thread that sleeps in a system
// call with its processor notices when it wakes up: which it does not while
// somebody spins, since time stands still. What a run allocates fits in memory.
const noCollector = "GOGC=off"

// platform is the guest: an infinitely fast processor, whose clock is virtual.
func platform(x *emu.Experiment) real.Platform {
	return real.Platform{
		Name: emu.Virtual, Machine: &real.Machine{CPUs: 1}, Wires: emu.Netem, Marker: emu.RED,
		Tick: tick(x), Align: align, HostEnv: []string{"GODEBUG=asyncpreemptoff=1", noCollector}, RxFrames: rxFrames,
		ProgramEnv: programEnvironment, Spun: guest.Spun,
		Starting: func(hosts int) { fmt.Printf("%s%d\n", startingMark, hosts) },
	}
}

// tick is how often the controller of an experiment reports. What it allocates for
// that, some 300 bytes, is never collected.
func tick(x *emu.Experiment) time.Duration {
	every := max(minTick, time.Duration(x.Dilation.ToKernel(x.End())/maxTicks))
	if len(x.Apps) > 0 { // so that one that spins is told from a long time without a report
		every = min(every, time.Second)
	}
	return every
}

// Inside is the controller in the guest: it runs the experiment that it is sent,
// with the raw logs in the directory path. open begins a capture on the experiment's fabric.
func Inside(path string, open func(file *os.File, f *topo.Fabric, node *topo.Node) (emu.Capture, error)) error {
	if !guest.Inside() {
		return errors.New("this command is for the guest of the virtual engine")
	}
	text, err := guest.Input()
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if j.Up {
		return serve(&j)
	}
	topology, err := topo.New(j.Experiment.Topology)
	if err != nil {
		return err
	}
	if len(j.Experiment.Apps) > 0 {
		if err := os.Chdir(j.Dir); err != nil {
			return err
		}
	}
	files := newFileCache()
	hooks := emu.Hooks{Progress: func(at units.Time) {
		files.trim()
		fmt.Printf("%s%d\n", reachedMark, int64(at))
	}}
	if j.Capture {
		hooks.OpenCapture = func(file *os.File, node *topo.Node) (emu.Capture, error) {
			return open(file, topology, node)
		}
	}
	dir, err := emu.OpenRunDir(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	platform := platform(j.Experiment)
	if j.Part != nil {
		group, err := meet(j.Part, slices.Max(j.Part.Guests)+1)
		if err != nil {
			return err
		}
		platform.Part, platform.Group = j.Part, group
	}
	go func() {
		for !guest.Stopping() {
			time.Sleep(platform.Tick)
		}
		cancel()
	}()
	engine := &real.Engine{NodeCommand: j.Node, Platform: platform}
	_, err = engine.Run(ctx, j.Experiment, dir, hooks)
	if err != nil && ctx.Err() == nil {
		fmt.Printf("%s%q\n", failedMark, err.Error())
	}
	return nil
}
