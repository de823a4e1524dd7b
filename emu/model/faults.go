package model

import "slices"

// A delayLine has packets that a host's fault shim delays, latest first.
type delayLine []delayedFrame

type delayedFrame struct {
	at   int64 // ps
	p    *packet
	flip int
}

// shimmed lets the host's fault shim, or the timeline, decide about a packet that has
// arrived.
func (h *endpoint) shimmed(p *packet, ps int64) {
	v := h.shim.Next(int(p.frame()))
	if h.line != nil {
		v = h.line.Next(nearest(ps), int(p.frame()))
	}
	if v.FlipBit < 0 {
		v.FlipBit = int(p.flip) - 1
	}
	if v.Drop {
		h.stats.Faults++
		h.sim.pool.put(p)
		return
	}
	var late *packet // what is delayed
	if v.Duplicate {
		h.stats.Extra++
		late = h.sim.pool.get()
		*late = *p
	} else if v.Delay > 0 {
		late, p = p, nil
	}
	if late != nil {
		h.delay(delayedFrame{ps + int64(v.Delay)*1000, late, v.FlipBit})
	}
	if p != nil {
		h.receive(p, ps, v.FlipBit)
	}
}

// delay keeps a frame until its time; those of the same time keep their order.
func (h *endpoint) delay(f delayedFrame) {
	i := len(h.delayed)
	for i > 0 && h.delayed[i-1].at <= f.at {
		i--
	}
	h.delayed = slices.Insert(h.delayed, i, f)
	h.sim.agenda.set(h.releaseID(), h.delayed[len(h.delayed)-1].at)
}

// release hands over the frame whose time has come.
func (h *endpoint) release(ps int64) {
	last := len(h.delayed) - 1
	f := h.delayed[last]
	h.delayed = h.delayed[:last]
	if last > 0 {
		h.sim.agenda.set(h.releaseID(), h.delayed[last-1].at)
	} else {
		h.sim.agenda.clear(h.releaseID())
	}
	h.receive(f.p, ps, f.flip)
}

func (h *endpoint) releaseID() int { return h.entity() + len(h.sim.hosts) }
