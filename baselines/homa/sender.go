package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending role of a host.
type sender struct {
	peers      []*outPeer             // by HostID, nil until needed
	ready      queue.Heap[outMessage] // messages with bytes that may be sent, the fewest bytes left first
	retransmit []byteRange            // in the order of requests
	unsent     Bytes                  // payload of all messages that has not been sent
	free       queue.Free[outMessage]
}

func (h *Homa) initSender() {
	s := &h.sender
	s.peers = make([]*outPeer, len(h.env.Fabric.Hosts))
	s.ready = queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.slot })
	h.env.Sink.Gauge("unsent_bytes", func() float64 { return float64(s.unsent) })
	h.env.Sink.Gauge("ready_messages", func() float64 { return float64(s.ready.Len()) })
}

func (h *Homa) outPeer(id transport.HostID) *outPeer {
	o := h.sender.peers[id]
	if o == nil {
		o = &outPeer{id: id}
		h.sender.peers[id] = o
	}
	return o
}

// Send implements transport.Transport.
func (h *Homa) Send(now Time, m transport.Message) {
	h.sleep.End()
	if !h.env.Fits(now, m, layout.MaxMessage) {
		return
	}
	h.enqueue(h.newOutMessage(now, h.outPeer(m.Peer), m))
	h.lossCheck.Arm(now)
}

// nextData sends the next DATA packet: retransmissions first, then the message
// with the fewest bytes left.
func (h *Homa) nextData(now Time, p *transport.Packet) bool {
	var m *outMessage
	var from Bytes
	if len(h.sender.retransmit) > 0 {
		a := &h.sender.retransmit[0]
		m, from = a.m, a.from
		p.Priority = a.priority
		if a.from += min(h.mss, a.to-a.from); a.from == a.to {
			h.sender.retransmit = slices.Delete(h.sender.retransmit, 0, 1)
		}
		h.env.Sink.Count(&retransmissions, 1)
	} else if m = h.sender.ready.Top(); m != nil {
		from = m.sent
		p.Priority = m.priority
		if from < m.unscheduled {
			p.Priority = h.unscheduledPriority(m.unsent())
		}
		n := min(h.mss, m.unsent())
		m.sent += n
		h.sender.unsent -= n
		h.enqueue(m)
	} else {
		return false
	}
	m.lastActivity = now
	hd := header{
		kind: data, fromSender: true, id: m.ID, offset: uint32(from), length: uint32(m.Size), tag: m.Tag,
		aboveFloor:  m.to.messages.AboveFloor(m.ID),
		unscheduled: uint16((m.unscheduled + h.mss - 1) / h.mss),
	}
	hd.encode(p)
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = m.to.id, m.ID, m.Tag, from, int(min(h.mss, m.Size-from))
	return true
}

var retransmissions = transport.Counter{Name: "retransmissions"}

// receiveGrant lets a message be sent further. A GRANT that was overtaken by a
// later one changes nothing.
func (h *Homa) receiveGrant(now Time, hd *header, peer transport.HostID) {
	m := h.outPeer(peer).messages.Find(hd.id)
	if m == nil || !h.endsPacket(Bytes(hd.offset), m.Size) {
		return
	}
	m.confirm(now, h.needAckTimeout())
	if to := Bytes(hd.offset); to > m.granted {
		m.priority = hd.priority
		h.raiseLimit(m, to)
	}
}

func (h *Homa) receiveAck(now Time, hd *header, peer transport.HostID) {
	if m := h.outPeer(peer).messages.Find(hd.id); m != nil {
		message := m.Message
		h.forgetOut(m)
		h.env.Sink.Acked(now, message)
	}
}
