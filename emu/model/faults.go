package model

import "slices"

// heldFrames are packets that a host's fault shim holds back, latest first.
type heldFrames []heldFrame

type heldFrame struct {
	at   int64 // ps
	p    *packet
	flip int
}

// shimmed lets the host's fault shim decide about a packet that has arrived.
func (h *endpoint) shimmed(p *packet, ps int64) {
	v := h.shim.Next(int(p.frame))
	if v.Drop {
		h.stats.Faults++
		h.sim.pool.put(p)
		return
	}
	var late *packet // what is held back
	if v.Duplicate {
		h.stats.Extra++
		late = h.sim.pool.get()
		*late = *p
	} else if v.Delay > 0 {
		late, p = p, nil
	}
	if late != nil {
		h.hold(heldFrame{ps + int64(v.Delay)*1000, late, v.FlipBit})
	}
	if p != nil {
		h.receive(p, ps, v.FlipBit)
	}
}

// hold keeps a frame until its time; those of the same time keep their order.
func (h *endpoint) hold(f heldFrame) {
	i := len(h.held)
	for i > 0 && h.held[i-1].at <= f.at {
		i--
	}
	h.held = slices.Insert(h.held, i, f)
	h.sim.agenda.set(h.releaseID(), h.held[len(h.held)-1].at)
}

// release hands over the frame whose time has come.
func (h *endpoint) release(ps int64) {
	last := len(h.held) - 1
	f := h.held[last]
	h.held = h.held[:last]
	if last > 0 {
		h.sim.agenda.set(h.releaseID(), h.held[last-1].at)
	} else {
		h.sim.agenda.clear(h.releaseID())
	}
	h.receive(f.p, ps, f.flip)
}

func (h *endpoint) releaseID() int { return h.entity() + len(h.sim.hosts) }
