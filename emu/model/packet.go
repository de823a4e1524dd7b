package model

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// A packet is one packet in the network. It has one owner at a time: the host
// that is filling it in, the queue it waits in, the link it is on, or the host
// that is receiving it. The last owner hands it back to the pool. Within the
// network Peer is the destination.
//
// What ports and links need is in its first cache line, with what transport.Packet has
// first: thousands are under way at once, and each hop would miss the other two.
type packet struct {
	next   *packet // in the fifo or pool that it is in
	nextAt int64   // ps when the last bit of next, behind it on a link, is at the far end

	src, dst topo.HostID
	onWire   int32  // bytes that it occupies on a link
	inQueue  int32  // bytes of Ethernet header and IP packet: what a queue counts
	serial   uint16 // IP identification
	source   uint16 // UDP source port
	flip     int32  // 1 + the bit of its frame that a link has flipped, 0 for none

	transport.Packet

	_ [8]byte // to three lines, so that each packet begins with one
}

// stamp fills in what the network needs to know of a packet that src sends.
func (p *packet) stamp(src topo.HostID) {
	ip := wire.IPOverhead + transport.Bytes(p.HeaderLen) + transport.Bytes(p.PayloadLen)
	p.src, p.dst = src, p.Peer
	p.source = wire.SourcePort(p.Entropy)
	p.onWire = int32(topo.WireBytes(ip))
	p.inQueue = int32(wire.HeaderOffset + p.HeaderLen + p.PayloadLen)
}

// wire is the bytes that the packet occupies on a link.
func (p *packet) wire() int64 { return int64(p.onWire) }

// frame is what a queue counts of it, in bytes.
func (p *packet) frame() int64 { return int64(p.inQueue) }

// A fifo is a queue of packets.
type fifo struct{ head, tail *packet }

func (f *fifo) push(p *packet) {
	p.next = nil
	if f.tail == nil {
		f.head = p
	} else {
		f.tail.next = p
	}
	f.tail = p
}

func (f *fifo) pop() *packet {
	p := f.head
	f.head = p.next
	if f.head == nil {
		f.tail = nil
	}
	return p
}

// A pool recycles packets: a run allocates as many as are ever under way at
// once.
type pool struct {
	idle *packet
	live int // packets handed out
}

func (p *pool) get() *packet {
	if p.idle == nil {
		batch := make([]packet, 64)
		for i := range batch {
			batch[i].next, p.idle = p.idle, &batch[i]
		}
	}
	q := p.idle
	p.idle = q.next
	p.live++
	return q
}

func (p *pool) put(q *packet) {
	q.Payload, q.flip = nil, 0
	q.next, p.idle = p.idle, q
	p.live--
}
