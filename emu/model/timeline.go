package model

import (
	"cmp"
	"slices"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
)

// The timeline of faults. Of a link's packets those that leave a host or a switch meet
// it when they begin to leave, those that come down to a host when they have arrived: a
// host link fails at its host's end, where host processes see it on a kernel.

// A change is something of the timeline that happens at a time.
type change struct {
	ps int64
	do func(ps int64)
}

func (s *Sim) changeID() int { return 2*len(s.ports) + 2*len(s.hosts) }
func (s *Sim) lateID() int   { return s.changeID() + 1 }

// plan enters all changes of the timeline.
func (s *Sim) plan() {
	t := s.cfg.Timeline
	for i := range s.ports {
		p := &s.ports[i]
		for _, step := range t.Steps(s.fabric, p.info.ID) {
			s.changes = append(s.changes, change{picoseconds(step.At), func(ps int64) { p.become(step.State, ps) }})
		}
		if p.peer >= len(s.hosts) {
			p.line = t.NewLine(s.fabric, p.info.ID, s.cfg.Seed)
		}
	}
	for _, h := range s.hosts {
		for _, o := range t.Outages(s.fabric, h.id) {
			s.changes = append(s.changes, h.outage(o)...)
		}
	}
	slices.SortStableFunc(s.changes, func(a, b change) int { return cmp.Compare(a.ps, b.ps) })
	s.awaitChange()
}

func (s *Sim) awaitChange() {
	if len(s.changes) == 0 {
		s.agenda.clear(s.changeID())
		return
	}
	s.agenda.set(s.changeID(), s.changes[0].ps)
}

// change makes the change that is due.
func (s *Sim) change() {
	c := s.changes[0]
	s.changes = s.changes[1:]
	c.do(c.ps)
	s.awaitChange()
}

// beginDrain has the hosts send nothing more, and the timeline end as things are. Hosts
// that are paused take what has arrived for them.
func (s *Sim) beginDrain() {
	s.draining = true
	s.changes = nil
	s.agenda.clear(s.changeID())
	for _, h := range s.hosts {
		if h.absence.kind == paused {
			h.comeBack(s.now)
		}
	}
}

// mortal reports whether the timeline kills a host.
func (s *Sim) mortal(h topo.HostID) bool {
	return slices.ContainsFunc(s.cfg.Timeline.Outages(s.fabric, h), func(o fault.Outage) bool { return o.Dead })
}

// become makes a port and its link what the timeline says. A packet in transmission keeps
// its time.
func (p *port) become(state fault.State, ps int64) {
	rate := p.info.Rate
	if state.Rate > 0 {
		rate = state.Rate
	}
	p.setRate(rate)
	if p.credit.on {
		p.credit.setLink(rate)
	}
	p.delay = picoseconds(p.info.Delay + state.Extra)
	if p.down = state.Down; p.down {
		p.empty(ps)
		p.schedule()
	}
	if int(p.info.Node) < len(p.sim.hosts) {
		p.sim.hosts[p.info.Node].paceAt(rate, ps)
	}
}

// empty loses what waits.
func (p *port) empty(ps int64) {
	lose := func(f *fifo) {
		for f.head != nil {
			q := f.pop()
			p.wait(-q.frame(), -1, ps)
			p.stats.Lost++
			p.sim.pool.put(q)
		}
	}
	for i := range p.levels {
		lose(&p.levels[i])
	}
	lose(&p.credit.queue)
	p.backlog, p.busy, p.credit.count = [8]int64{}, 0, 0
}

// survives lets the timeline decide about a packet that has begun to leave, and would arrive at at.
// It reports whether it goes on as any other.
func (p *port) survives(q *packet, at, now int64) bool {
	s, v := p.sim, p.line.Next(nearest(now), int(q.frame()))
	if v.Drop {
		p.stats.Lost++
		s.pool.put(q)
		return false
	}
	if v.FlipBit >= 0 {
		q.flip = int32(v.FlipBit + 1)
	}
	if v.Duplicate {
		p.stats.Extra++
		twin := s.pool.get()
		*twin = *q
		s.delay(lateArrival{p, twin, at + int64(v.Delay)*1000})
		return true
	}
	if v.Delay > 0 {
		s.delay(lateArrival{p, q, at + int64(v.Delay)*1000})
		return false
	}
	return true
}

// A lateArrival is a packet beside the order of its link.
type lateArrival struct {
	port *port
	p    *packet
	at   int64 // ps
}

// delay keeps a packet until it arrives; those of the same time keep their order.
func (s *Sim) delay(l lateArrival) {
	i := len(s.late)
	for i > 0 && s.late[i-1].at <= l.at {
		i--
	}
	s.late = slices.Insert(s.late, i, l)
	s.agenda.set(s.lateID(), s.late[len(s.late)-1].at)
}

// arriveLate has the packet arrive whose time has come.
func (s *Sim) arriveLate() {
	last := len(s.late) - 1
	l := s.late[last]
	s.late = s.late[:last]
	if last > 0 {
		s.agenda.set(s.lateID(), s.late[last-1].at)
	} else {
		s.agenda.clear(s.lateID())
	}
	s.arrive(l.port, l.p)
}
