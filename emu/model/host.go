package model

import (
	"bytes"
	"fmt"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An endpoint drives one host.Host: arrivals from its link, the NIC, timers.
type endpoint struct {
	sim  *Sim
	id   topo.HostID
	core *host.Host
	nic  *port

	now    units.Time // that the host was last called with
	wakeAt int64      // when it will be, in ps; never or unset otherwise
	done   bool
	serial uint16

	shim    *fault.Shim
	line    *fault.Line // what the timeline does to packets that arrive; nil for nothing
	delayed delayLine
	absence absence
	stats   HostStats

	log    *record.Writer
	memory *bytes.Buffer // what log writes to, unless Config.Log returned another
}

// HostStats are the totals of a host's receive path. Of Received, all but
// Corrupt and Faults reach the transport, and Extra besides.
type HostStats struct {
	Received int64 // packets that arrived, before faults
	Faults   int64 // dropped by the fault shim or the timeline
	Extra    int64 // made by them
	Corrupt  int64 // refused by their checksum
	Foreign  int64 // not of the protocol, or not for this host
}

func (s *Sim) newHost(id topo.HostID) (*endpoint, error) {
	h := &endpoint{sim: s, id: id, nic: &s.ports[s.fabric.Uplink(id).ID], wakeAt: unset}
	if s.cfg.Log != nil {
		h.log = record.NewWriter(s.cfg.Log(id))
	} else {
		h.memory = &bytes.Buffer{}
		h.log = record.NewWriter(h.memory)
	}
	var err error
	if s.cfg.Faults.Enabled() {
		if h.shim, err = fault.New(s.cfg.Faults, fault.Seed(s.cfg.Seed, id)); err != nil {
			return nil, err
		}
	}
	params := s.cfg.Params
	if s.cfg.HostParams != nil {
		params = s.cfg.HostParams(id)
	}
	h.line = s.cfg.Timeline.NewLine(s.fabric, s.fabric.Downlink(id).ID, s.cfg.Seed)
	h.core, err = host.New(host.Config{
		Self: id, Fabric: s.fabric, Protocol: s.cfg.Protocol, Params: params, Streams: s.cfg.Streams, Seed: s.cfg.Seed,
		From: s.cfg.From, To: s.cfg.To, GaugeEvery: s.cfg.GaugeEvery, Mortal: s.mortal(id),
	}, h.log)
	if err != nil {
		return nil, err
	}
	s.undone++
	h.reschedule(0, false)
	return h, nil
}

// clock moves the host's time to the one nearest to ps, unless it is there.
func (h *endpoint) clock(ps int64) units.Time {
	h.now = max(h.now, nearest(ps))
	return h.now
}

// arrive takes a packet off the host's link.
func (h *endpoint) arrive(p *packet, ps int64) {
	h.stats.Received++
	if in := h.nic; in.taps != nil {
		h.sim.tap(in.taps, in, p, ps, false)
	}
	if h.shim != nil || h.line != nil {
		h.shimmed(p, ps)
		return
	}
	h.receive(p, ps, int(p.flip)-1)
}

// receive hands a packet to the host, with a bit of its frame flipped if flip
// is not negative, and sends what it wants to send then.
func (h *endpoint) receive(p *packet, ps int64, flip int) {
	if h.absence.kind != present {
		h.miss(p, ps, flip)
		return
	}
	h.handOver(p, ps, ps, flip)
}

// handOver is receive of a packet that has arrived at some time before.
func (h *endpoint) handOver(p *packet, ps, arrived int64, flip int) {
	s := h.sim
	if !s.cfg.Bytes || h.unwrap(p, flip) {
		// What only the sender knew stays with it, as on a wire.
		p.Peer, p.ID, p.Tag, p.Offset, p.Entropy = p.src, 0, 0, 0, p.source
		p.Arrived = nearest(arrived)
		h.core.Receive(h.clock(ps), &p.Packet)
	}
	s.pool.put(p)
	h.pump(ps)
}

// wake does what is due at the host.
func (h *endpoint) wake(ps int64) {
	h.wakeAt = unset
	if now := h.clock(ps); !h.sim.draining {
		if h.absence.kind == present {
			h.core.Advance(now)
		}
		h.core.Sample(now)
	}
	h.pump(ps)
}

// pump sends packets while the NIC takes them. The NIC is the port: it takes a
// packet when the one before is through. Credits that wait in the port for
// tokens do not make it busy.
func (h *endpoint) pump(ps int64) {
	s := h.sim
	if s.draining {
		s.agenda.clear(h.entity())
		return
	}
	exhausted := false
	for h.absence.kind == present && h.nic.free <= ps {
		// The host paces in whole nanoseconds, and is ready up to two later than
		// the port: its clock goes ahead, but not past a message's arrival.
		if at := h.core.NICFree(); at > h.now && picoseconds(at)-ps < 2000 && at <= h.core.NextArrival() {
			h.now = at
		}
		p := s.pool.get()
		if !h.core.Next(h.now, &p.Packet) {
			s.pool.put(p)
			exhausted = true
			break
		}
		p.stamp(h.id)
		p.serial = h.serial
		h.serial++
		if err := s.sendable(p); err != nil {
			panic(fmt.Sprintf("model: %s at %s sent %v", s.cfg.Protocol.Name, s.fabric.HostName(h.id), err))
		}
		h.nic.enqueue(p, ps)
	}
	h.reschedule(ps, exhausted)
}

// sendable reports what no network would carry, which is a bug of the protocol.
func (s *Sim) sendable(p *packet) error {
	switch {
	case p.dst == p.src || p.dst < 0 || int(p.dst) >= len(s.hosts):
		return fmt.Errorf("a packet to host %d", p.dst)
	case p.frame()-wire.EthernetLen > int64(s.fabric.Spec.MTU):
		return fmt.Errorf("an IP packet of %d bytes: the MTU is %d", p.frame()-wire.EthernetLen, s.fabric.Spec.MTU)
	case p.Spine < 0 || p.Spine > s.fabric.Spec.Spines:
		return fmt.Errorf("a packet over spine %d of %d", p.Spine, s.fabric.Spec.Spines)
	}
	return nil
}

func (h *endpoint) entity() int { return 2*len(h.sim.ports) + int(h.id) }

// reschedule enters the host's next wake-up. exhausted is set if the NIC was
// free and the transport had nothing.
func (h *endpoint) reschedule(ps int64, exhausted bool) {
	due := h.core.NextSample()
	if h.absence.kind == present {
		due = h.core.Wake()
	}
	if done := h.core.Done(); done != h.done {
		h.done = done
		if done {
			h.sim.undone--
		} else {
			h.sim.undone++
		}
	}
	at := picoseconds(due)
	if arrival := h.core.NextArrival(); due < arrival && h.absence.kind == present {
		// The transport's time, or the NIC's. A busy NIC lets nothing out before
		// it is free, and pacing in whole nanoseconds must not make it late.
		if free := h.nic.free; free > ps && at-free < 2000 {
			at = min(free, picoseconds(arrival))
		} else if exhausted && at <= ps {
			at = ps + 1000 // asks to be called at once and has nothing: no faster than its clock
		}
	}
	at = max(at, ps)
	if due == units.Never {
		at = never
	}
	if at == h.wakeAt {
		return
	}
	h.wakeAt = at
	if at == never {
		h.sim.agenda.clear(h.entity())
	} else {
		h.sim.agenda.set(h.entity(), at)
	}
}
