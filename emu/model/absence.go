package model

import (
	"fmt"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo/units"
)

// An absence is what the timeline has made of a host. One that is paused takes packets as
// long as it has room for them, and sees them when it goes on; those for a dead host are
// lost.
type absence struct {
	kind   absenceKind
	parked []delayedFrame // in order of arrival
}

type absenceKind uint8

const (
	present absenceKind = iota
	paused
	dead
)

// outage returns what happens to a host at the beginning and the end of an outage.
func (h *endpoint) outage(o fault.Outage) (list []change) {
	begin := func(ps int64) { h.leave(paused, ps) }
	if o.Dead {
		begin = func(ps int64) {
			h.core.Kill(h.clock(ps), o.To == units.Never)
			h.leave(dead, ps)
		}
	}
	list = append(list, change{picoseconds(o.From), begin})
	if o.To != units.Never {
		list = append(list, change{picoseconds(o.To), h.comeBack})
	}
	return list
}

func (h *endpoint) leave(kind absenceKind, ps int64) {
	h.absence.kind = kind
	h.reschedule(ps, false)
}

// comeBack ends an outage.
func (h *endpoint) comeBack(ps int64) {
	was := h.absence.kind
	h.absence.kind = present
	if was == dead {
		if err := h.core.Restart(h.clock(ps)); err != nil {
			panic(fmt.Sprintf("model: %v, in its second life", err)) // its parameters were good for the first
		}
	}
	h.wakeAt = unset
	parked := h.absence.parked
	h.absence.parked = nil
	for _, f := range parked {
		h.handOver(f.p, ps, f.at, f.flip)
	}
	h.wake(ps)
}

// miss takes a packet that arrives at a host which is not there.
func (h *endpoint) miss(p *packet, ps int64, flip int) {
	if a := &h.absence; a.kind == paused && len(a.parked) < fault.PauseFrames {
		a.parked = append(a.parked, delayedFrame{ps, p, flip})
		return
	}
	h.stats.Faults++
	h.sim.pool.put(p)
}

// paceAt has the host's NIC go at its link's rate.
func (h *endpoint) paceAt(rate units.BitsPerSecond, ps int64) {
	h.core.SetRate(rate)
	h.reschedule(ps, false)
}
