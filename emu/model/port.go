package model

import (
	"math/bits"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A port is an egress port and the link behind it: queues, then serialization
// at the wire rate, then propagation. Times are in ps.
//
// Its queue is what waits, without the packet in transmission, in bytes of
// Ethernet header and IP packet: what a Linux qdisc counts as its backlog, so
// that limits, thresholds and samples mean the same in every engine.
//
// What every packet needs comes first, so that it shares few cache lines.
type port struct {
	sim      *Sim
	link     int   // its number, here so that a hop need not look at info
	peer     int   // node at the other end
	flight   fifo  // packets on the link
	lastAt   int64 // when the last bit of the last of them is at the far end
	free     int64 // when the packet in transmission is through
	byteTime int64 // ps a wire byte takes, 0 if that is no whole number
	delay    int64

	packets int64 // packets in all queues
	kickAt  int64 // when the agenda has the port look at its queues, -1: not
	mark    int64 // ECN step in bytes, 0: none
	limit   int64 // bytes of each level, 0: none
	busy    uint8 // bit set of the levels that have packets
	top     uint8 // the highest level: a packet of priority p is of level min(p, top)
	down    bool  // by the timeline: nothing is taken
	stats   PortStats
	line    *fault.Line // what the timeline does to packets that leave; nil for nothing
	taps    []tap

	at      *node // the node it belongs to
	waiting int64 // bytes in all queues
	queue   gauge
	levels  [8]fifo
	backlog [8]int64 // bytes by level
	credit  creditClass

	info *topo.Port
	rate units.BitsPerSecond
}

func (s *Sim) newPort(info *topo.Port, n transport.Network, limit units.Bytes) port {
	p := port{
		sim: s, link: int(info.ID), info: info, at: &s.nodes[info.Node], peer: int(info.Peer),
		delay: int64(info.Delay) * 1000, kickAt: -1,
		credit: newCreditClass(n, info.Rate), limit: int64(limit), mark: int64(n.MarkStep(s.fabric, info)),
	}
	p.top = uint8(max(1, min(n.Priorities, 8)) - 1)
	p.setRate(info.Rate)
	return p
}

func (p *port) setRate(rate units.BitsPerSecond) {
	p.rate, p.byteTime = rate, 0
	if bits := int64(rate); 8e12%bits == 0 {
		p.byteTime = 8e12 / bits
	}
}

func (p *port) linkID() int { return p.link }
func (p *port) kickID() int { return len(p.sim.ports) + p.link }

// enqueue takes a packet that is to leave through the port.
//
// Marking is sch_red's step (Wlog 0, min = max): a packet is marked if what
// waited in all levels before it came is at least the threshold. Packets that do not fit
// are not marked, and packets that may not be marked are kept (RED's nodrop).
func (p *port) enqueue(q *packet, now int64) {
	// Departures come before arrivals of the same instant.
	if p.packets > 0 && p.free <= now {
		p.kick(now)
	}
	s := p.sim
	if p.down || s.lose != nil && s.lose(s.event(Enqueued, p, q)) {
		p.stats.Lost++
		s.pool.put(q)
		return
	}
	if q.Credit && p.credit.on {
		p.enqueueCredit(q, now)
		return
	}
	level := min(q.Priority, p.top)
	if p.limit > 0 && p.backlog[level]+q.frame() > p.limit {
		p.stats.Drops++
		p.drop(q)
		return
	}
	if p.mark > 0 && q.ECT && p.inLevels() >= p.mark {
		q.CE = true
		p.stats.Marks++
	}
	if s.onPacket != nil {
		s.onPacket(s.event(Enqueued, p, q))
	}
	if p.busy == 0 && p.free <= now { // credits without tokens do not delay it
		p.transmit(q, now)
		return
	}
	p.levels[level].push(q)
	p.backlog[level] += q.frame()
	p.busy |= 1 << level
	p.wait(q.frame(), 1, now)
	p.schedule()
}

// inLevels returns the bytes in all levels, credits not among them.
func (p *port) inLevels() (bytes int64) {
	for _, n := range p.backlog[:p.top+1] {
		bytes += n
	}
	return bytes
}

func (p *port) enqueueCredit(q *packet, now int64) {
	c := &p.credit
	if c.count >= c.limit {
		p.stats.CreditDrops++
		p.drop(q)
		return
	}
	if s := p.sim; s.onPacket != nil {
		s.onPacket(s.event(Enqueued, p, q))
	}
	if c.count == 0 && p.free <= now && c.ready(q) <= now {
		c.spend(q, now)
		p.transmit(q, now)
		return
	}
	c.queue.push(q)
	c.count++
	p.wait(q.frame(), 1, now)
	p.schedule()
}

func (p *port) drop(q *packet) {
	if s := p.sim; s.onPacket != nil {
		s.onPacket(s.event(Dropped, p, q))
	}
	p.sim.pool.put(q)
}

// kick starts the next packet if the link is free and one may go: a credit if
// there are tokens for it, else the most urgent level's first.
func (p *port) kick(now int64) {
	p.kickAt = -1
	if p.free > now {
		p.schedule()
		return
	}
	var q *packet
	if c := &p.credit; c.count > 0 && c.ready(c.queue.head) <= now {
		q = c.queue.pop()
		c.count--
		c.spend(q, now)
	} else if p.busy != 0 {
		level := bits.Len8(p.busy) - 1
		q = p.levels[level].pop()
		p.backlog[level] -= q.frame()
		if p.levels[level].head == nil {
			p.busy &^= 1 << level
		}
	}
	if q != nil {
		p.wait(-q.frame(), -1, now)
		p.transmit(q, now)
	}
	p.schedule()
}

// schedule has the port kicked when the next waiting packet can go.
func (p *port) schedule() {
	if p.packets == 0 {
		p.kickAt = -1
		p.sim.agenda.clear(p.kickID())
		return
	}
	at := p.free
	if p.busy == 0 {
		at = max(at, p.credit.ready(p.credit.queue.head))
	}
	if at != p.kickAt {
		p.kickAt = at
		p.sim.agenda.set(p.kickID(), at)
	}
}

// transmit puts a packet on the wire.
func (p *port) transmit(q *packet, now int64) {
	p.free = now + p.duration(q.wire())
	at := p.free + p.delay
	p.stats.Packets++
	p.stats.WireBytes += q.wire()
	if s := p.sim; s.onPacket != nil {
		s.onPacket(s.event(Transmitted, p, q))
	}
	if p.taps != nil {
		p.sim.tap(p.taps, p, q, now, true)
	}
	if p.line != nil && !p.survives(q, at, now) {
		return
	}
	if p.flight.head == nil {
		p.sim.agenda.set(p.linkID(), at)
	} else {
		at = max(at, p.lastAt) // on a link that got shorter
		p.flight.tail.nextAt = at
	}
	p.lastAt = at
	p.flight.push(q)
}

// duration is how long wire bytes occupy the link.
func (p *port) duration(wire int64) int64 {
	if p.byteTime > 0 {
		return wire * p.byteTime
	}
	return p.rate.Picoseconds(units.Bytes(wire))
}

// arrive takes the first packet off the link: it has arrived in full.
func (p *port) arrive() *packet {
	q := p.flight.pop()
	if next := p.flight.head; next != nil {
		_ = *next // has its cache line come while q is dealt with, which would wait for it else
		p.sim.agenda.set(p.linkID(), q.nextAt)
	} else {
		p.sim.agenda.clear(p.linkID())
	}
	return q
}

// wait changes what waits in the port.
func (p *port) wait(bytes, packets, now int64) {
	p.waiting += bytes
	p.packets += packets
	p.queue.set(p.waiting, now)
	p.at.waiting += bytes
	p.at.queue.set(p.at.waiting, now)
}
