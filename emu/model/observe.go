package model

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An EventKind is what happened to a packet at a port.
type EventKind uint8

// The events of a packet at a port and its link, in their order.
const (
	// Enqueued: the port has accepted the packet, which may start at once. CE
	// is as after marking.
	Enqueued EventKind = iota
	// Dropped: the port's queue, or its credit queue, had no room.
	Dropped
	// Transmitted: the first bit leaves.
	Transmitted
	// Arrived: the last bit is at the other end of the port's link.
	Arrived
)

func (k EventKind) String() string {
	return [...]string{"enqueued", "dropped", "transmitted", "arrived"}[k]
}

// A PacketEvent is what Config.OnPacket and Config.Lose see.
type PacketEvent struct {
	Kind     EventKind
	At       units.Time  // to the nearest nanosecond
	PS       int64       // the same in picoseconds
	Port     *topo.Port  // the egress port
	Src, Dst topo.HostID // of the packet
	// Queue is what waits in the port just before an Enqueued packet joins it
	// (as marking sees it), and as it is otherwise.
	Queue units.Bytes
	// Packet is the packet as its sender filled it in, and CE. It is valid
	// during the call, and must not be changed.
	Packet *transport.Packet
}

func (s *Sim) event(kind EventKind, p *port, q *packet) PacketEvent {
	return PacketEvent{
		Kind: kind, At: nearest(s.now), PS: s.now, Port: p.info,
		Src: q.src, Dst: q.dst, Queue: units.Bytes(p.waiting), Packet: &q.Packet,
	}
}
