package homa

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending half of a host.
type sender struct {
	peers   []*outPeer             // by HostID, nil until needed
	ready   queue.Heap[outMessage] // messages that may be sent from, the fewest bytes left first
	again   []span                 // ranges to be sent again, in the order of requests
	backlog Bytes                  // payload handed over and not yet sent
	free    queue.Free[outMessage]
}

func (h *Homa) initSender() {
	s := &h.sender
	s.peers = make([]*outPeer, len(h.env.Fabric.Hosts))
	s.ready = queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.slot })
	h.env.Sink.Gauge("unsent_bytes", func() float64 { return float64(s.backlog) })
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
	h.sortIn(h.newOutMessage(now, h.outPeer(m.Peer), m))
	h.lossCheck.Arm(now)
}

// nextData sends the next DATA packet: retransmissions first, then from the
// message with the fewest bytes left.
func (h *Homa) nextData(now Time, p *transport.Packet) bool {
	var m *outMessage
	var from Bytes
	if len(h.sender.again) > 0 {
		a := &h.sender.again[0]
		m, from = a.m, a.from
		p.Priority = a.priority
		if a.from += min(h.mss, a.to-a.from); a.from == a.to {
			h.sender.again = slices.Delete(h.sender.again, 0, 1)
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
		h.sender.backlog -= n
		h.sortIn(m)
	} else {
		return false
	}
	m.heard = now
	hd := header{
		kind: data, own: true, id: m.ID, offset: uint32(from), length: uint32(m.Size), tag: m.Tag,
		aboveFloor:  m.to.messages.AboveFloor(m.ID),
		unscheduled: uint16((m.unscheduled + h.mss - 1) / h.mss),
	}
	hd.encode(p)
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = m.to.id, m.ID, m.Tag, from, int(min(h.mss, m.Size-from))
	return true
}

var retransmissions = transport.Counter{Name: "retransmissions"}

// receiveGrant raises the limit of a message. A grant that was overtaken
// changes nothing.
func (h *Homa) receiveGrant(now Time, hd *header, peer transport.HostID) {
	m := h.outPeer(peer).messages.Find(hd.id)
	if m == nil || !h.endsPacket(Bytes(hd.offset), m.Size) {
		return
	}
	m.answered(now, h.firstWait())
	if to := Bytes(hd.offset); to > m.granted {
		m.priority = hd.priority
		h.raiseLimit(m, to)
	}
}

func (h *Homa) receiveAck(now Time, hd *header, peer transport.HostID) {
	if m := h.outPeer(peer).messages.Find(hd.id); m != nil {
		message := m.Message
		h.dropOut(m)
		h.env.Sink.Acked(now, message)
	}
}
