package fault

import (
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Line decides what happens to each frame on one direction of a link, as its State is
// at that time. Like a Shim it touches nothing, and the same seed, frames and times give
// the same verdicts. A nil Line leaves frames alone. A Line belongs to one goroutine; it
// allocates nothing.
type Line struct {
	steps []Step // to come
	state State
	shim  Shim
}

// NewLine returns the Line of one direction of a link, nil where the timeline does
// nothing to it. seed is the run's; the timeline must be valid.
func (t Timeline) NewLine(f *topo.Fabric, port topo.PortID, seed uint64) *Line {
	steps := t.Steps(f, port)
	if steps == nil {
		return nil
	}
	l := &Line{steps: steps}
	l.shim.seed(seed ^ uint64(port+1)<<32 ^ 1<<62) // of no host's shim
	return l
}

// At returns the state at a time, which is not before that of an earlier call.
func (l *Line) At(now units.Time) State {
	if l == nil {
		return State{}
	}
	for len(l.steps) > 0 && l.steps[0].At <= now {
		l.state, l.steps = l.steps[0].State, l.steps[1:]
		l.shim.config = l.state.Random
		if l.shim.config.ReorderDelay == 0 {
			l.shim.config.ReorderDelay = defaultReorderDelay
		}
	}
	return l.state
}

// Next decides what happens to a frame, of length bytes from its Ethernet header on, that
// passes at a time. A bit is flipped behind the UDP header alone: what switches read, and
// the port by which the kernel finds the host's socket, stay as they are.
func (l *Line) Next(now units.Time, length int) Verdict {
	if l == nil {
		return Verdict{FlipBit: -1}
	}
	cut := l.At(now).Cut
	v := l.shim.next(length, wire.HeaderOffset*8)
	if cut {
		v = Verdict{Drop: true, FlipBit: -1}
	}
	l.shim.count(&v)
	return v
}

// Counters returns what has happened so far.
func (l *Line) Counters() Counters {
	if l == nil {
		return Counters{}
	}
	return l.shim.counters
}
