//go:build linux

package real

import (
	"fmt"
	"slices"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/parts"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
)

// Several kernels can have one fabric together, each some of the nodes, if they have one
// clock. Each has a controller, which takes its part of the run through the same steps; here
// is what these have to agree on.

// A Group are the controllers of the kernels that have a fabric together, as one of them
// sees it. One goroutine may use it.
type Group interface {
	// Agree waits until all have called it as often, and returns what each has given, by
	// its kernel's number. It fails if one of them has left. So all must call it at the same
	// places of a run: commonOrigin, and then waitingAnywhere, as often as it is not 0.
	Agree(own int64) ([]int64, error)
	// Busy reports how many of this kernel's hosts are not done, whenever that changes.
	// Before the first report it is not 0.
	Busy(hosts int)
	// End has the run end: it cannot go on here.
	End()
	// Ended returns when the run ends, in ns of the kernels' clock, a little before that:
	// all hosts were done at once, or one of the group has ended it, or left.
	Ended() <-chan int64
}

// has reports whether this kernel has a node.
func (r *run) has(id topo.NodeID) bool {
	part := r.engine.Platform.Part
	return part == nil || part.Guests[id] == part.Self
}

// checkPart returns what keeps an experiment from running on several kernels.
func (e *Engine) checkPart(x *emu.Experiment) error {
	switch {
	case e.Platform.Part == nil:
		return nil
	case len(x.Apps) > 0 || len(x.Hosts) > 0:
		return fmt.Errorf("programs and devices are for one kernel, not for several with one clock")
	}
	return nil
}

// commonOrigin is the origin that all kernels have, where this one could have the given one.
func (r *run) commonOrigin(own int64) (int64, error) {
	g := r.engine.Platform.Group
	if g == nil {
		return own, nil
	}
	all, err := g.Agree(own)
	if err != nil {
		return 0, err
	}
	return slices.Max(all), nil
}

// agreeTime is about how long it takes kernels to agree, by their clock: a connection's
// request and answer, and what acknowledges them.
func (r *run) agreeTime() time.Duration {
	if p := r.engine.Platform.Part; p != nil {
		return 8*p.Crossing + time.Millisecond
	}
	return 0
}

// end has the group's run end, if there is a group.
func (r *run) end() {
	if g := r.engine.Platform.Group; g != nil {
		g.End()
	}
}

// over returns when the run ends by what the group says; nil where there is none.
func (r *run) over() <-chan int64 {
	if g := r.engine.Platform.Group; g != nil {
		return g.Ended()
	}
	return nil
}

// busy reports to the group how many hosts are not done.
func (r *run) busy(hosts int) {
	if g := r.engine.Platform.Group; g != nil {
		g.Busy(hosts)
	}
}

// waitingAnywhere is how many bytes wait in ports, of all kernels, where so many do here. Of
// several kernels all call it together, and go on by the same sum.
func (r *run) waitingAnywhere(here int64) (sum int64, err error) {
	g := r.engine.Platform.Group
	if g == nil {
		return here, nil
	}
	all, err := g.Agree(here)
	for _, n := range all {
		sum += n
	}
	return sum, err
}

// until waits until a time of the kernel's clock.
func until(at int64) {
	time.Sleep(time.Duration(at - clock.Monotonic()))
}

// PartFile is the name of a file of a run that each of several kernels writes: the first one
// by the name that it has otherwise, until all are merged.
func PartFile(part *fabric.Part, name string) string {
	if part == nil {
		return name
	}
	return parts.File(part.Self, name)
}
