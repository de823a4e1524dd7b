//go:build linux

package real

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/sirdnode/node"
)

// A Platform is what a run stands on: a kernel, its clock, and the machine under
// it. The zero value is this machine, whose clock is the wall's; package virtual
// has another.
type Platform struct {
	Name    emu.EngineName // of the engine; "": emu.Real
	Machine *Machine       // what it can do; nil: measured

	// Wires and Marker are as in fabric.Config: the first there is, unless set. A
	// marker matters where anything is to be marked.
	Wires  emu.Wires
	Marker emu.Marker

	// Of the clock: Tick is how long lies between two calls of Hooks.Progress, 0
	// for 200 ms; nominal 0 is at a multiple of Align, anywhere for 0.
	Tick  time.Duration
	Align time.Duration

	// Of host processes: what is added to their environment, and how many frames
	// their receive rings have room for, 0 for node.StallFrames.
	HostEnv  []string
	RxFrames int
	// Starting, when set, is called now and then while hosts start, of which many take long,
	// with how many have.
	Starting func(hosts int)

	// Part is what this kernel has of the fabric, nil for all of it; Group are then the
	// controllers of the kernels that have the rest. Their clocks are one.
	Part  *fabric.Part
	Group Group

	// Of programs: their environment, nil for this process's, and whether one of a name
	// was ended because it spun; nil where time goes on all the same.
	ProgramEnv []string
	Spun       func(name string) bool
}

func (p *Platform) name() emu.EngineName { return cmp.Or(p.Name, emu.Real) }

// machine is what the machine can do with as many hosts, by some means.
func (p *Platform) machine(hosts int, means Means) Machine {
	if p.Machine != nil {
		return *p.Machine
	}
	return MeasureMachine(hosts, means)
}

func (p *Platform) programEnv() []string {
	if p.ProgramEnv != nil {
		return slices.Clone(p.ProgramEnv)
	}
	return os.Environ()
}

// means are what is done about late wake-ups: nothing where none are.
func (p *Platform) means(realTime bool) Means {
	if p.Machine != nil {
		return Means{}
	}
	return MeansFor(realTime)
}

func (p *Platform) tick() time.Duration { return cmp.Or(p.Tick, 200*time.Millisecond) }

func (p *Platform) rxFrames() int { return cmp.Or(p.RxFrames, node.StallFrames) }

// startingEvery is how many hosts start from one call of Platform.Starting to the next.
const startingEvery = 25

// starting reports a host more that has come further in its start.
func (p *Platform) starting(hosts int) {
	if p.Starting != nil && hosts%startingEvery == 0 {
		p.Starting(hosts)
	}
}

// align returns the first time from at on, in ns of the kernel's clock, that may
// be nominal 0.
func (p *Platform) align(at int64) int64 {
	if step := p.Align.Nanoseconds(); step > 0 {
		at = (at + step - 1) / step * step
	}
	return at
}

// KernelRelease is the release of the kernel that this process runs on, "" if that is
// not to be had.
func KernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return strings.TrimRight(string(u.Release[:]), "\x00")
}
