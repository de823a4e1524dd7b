package homa

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// receiver is the receiving role of a host.
type receiver struct {
	peers       []*inPeer // by HostID, nil before their first packets
	known       []*inPeer // the same, in the order of their first packets
	ranking     []*inPeer // those with a message to grant, the shortest first
	degree      int       // k, the senders granted at a time
	outstanding Bytes     // payload granted and not yet received, over all messages
	rate        units.BitsPerSecond
	slack       Time // of the senders' pacers
	free        queue.Free[inMessage]

	downlinkBytes Bytes // wire bytes that have arrived over the downlink
}

func (h *Homa) initReceiver() {
	r := &h.receiver
	r.peers = make([]*inPeer, len(h.env.Fabric.Hosts))
	r.degree = h.params.overcommitment()
	r.rate = h.env.Fabric.Downlink(h.env.Self).Rate
	// A grant that is due waits for the packet that the NIC is sending, and for
	// grants to others. The pacers make up for that.
	ahead := h.framing.Wire(h.mss) + Bytes(min(r.degree, len(r.peers)))*grantWire
	r.slack = h.env.Fabric.Uplink(h.env.Self).Rate.TimeFor(ahead) + 1
	h.env.Sink.Gauge("granted_bytes", func() float64 { return float64(r.outstanding) })
	h.env.Sink.Gauge("granted_senders", func() float64 { return float64(min(len(r.ranking), r.degree)) })
	h.env.Sink.Gauge("waiting_senders", func() float64 { return float64(max(0, len(r.ranking)-r.degree)) })
}

func (h *Homa) inPeer(id transport.HostID) *inPeer {
	i := h.receiver.peers[id]
	if i == nil {
		i = &inPeer{
			id: id, pacer: timer.Pacer{Rate: h.receiver.rate},
			messages:  account.NewIncoming[inMessage](),
			ungranted: queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
		}
		h.receiver.peers[id] = i
		h.receiver.known = append(h.receiver.known, i)
	}
	return i
}

func (h *Homa) receiveData(now Time, hd *header, p *transport.Packet) {
	i := h.inPeer(p.Peer)
	i.messages.RaiseFloor(hd.id, hd.aboveFloor, nil)
	// Packets are cut at the same places whenever they are sent, so that a
	// packet's bytes are all new or none is.
	size, from, n := Bytes(hd.length), Bytes(hd.offset), Bytes(p.PayloadLen)
	if !h.startsPacket(from, size) || n != min(h.mss, size-from) {
		return // malformed
	}
	m := i.messages.Find(hd.id)
	if m == nil {
		if i.messages.IsDone(hd.id) {
			h.control.Push(controlPacket{peer: i.id, kind: ack, id: hd.id})
			return
		}
		m = h.newInMessage(now, i, hd)
	} else if m.Size != size {
		return
	}
	h.markProgress(now, m)
	if m.received.Add(from, from+n) == 0 {
		h.env.Sink.Count(&duplicates, 1)
		return
	}
	h.receiver.outstanding -= n
	if from+n > m.granted { // granted before this receiver abandoned the message
		h.raiseGranted(now, m, from+n)
	}
	h.env.Sink.Data(now, m.Message, from, int(n), p.Payload)
	if m.received.Total() == m.Size {
		h.deliver(now, m)
	}
}

var duplicates = transport.Counter{Name: "duplicate_data"}

func (h *Homa) newInMessage(now Time, i *inPeer, hd *header) *inMessage {
	m := h.receiver.free.Get()
	m.from, m.granted = i, 0
	h.markProgress(now, m)
	m.ID, m.Tag, m.Peer, m.Size = hd.id, hd.tag, i.id, Bytes(hd.length)
	i.messages.Add(m.ID, m)
	h.raiseGranted(now, m, min(m.Size, Bytes(hd.unscheduled)*h.mss))
	return m
}

// raiseGranted counts a message as granted up to the given offset, and updates
// the order of grants.
func (h *Homa) raiseGranted(now Time, m *inMessage, to Bytes) {
	h.receiver.outstanding += to - m.granted
	m.granted = to
	if m.toGrant() > 0 {
		m.from.ungranted.Set(m, m.toGrant())
	} else {
		m.from.ungranted.Remove(m)
	}
	h.updateRank(now, m.from)
}

func (h *Homa) deliver(now Time, m *inMessage) {
	i, message := m.from, m.Message
	i.messages.Done(m.ID)
	h.control.Push(controlPacket{peer: i.id, kind: ack, id: m.ID})
	h.forgetIn(now, m)
	h.env.Sink.Delivered(now, message)
}

// forgetIn forgets a message that is complete or abandoned.
func (h *Homa) forgetIn(now Time, m *inMessage) {
	h.receiver.outstanding -= m.outstanding()
	m.from.ungranted.Remove(m)
	h.updateRank(now, m.from)
	m.from.messages.Forget(m.ID)
	m.received.Reset()
	h.receiver.free.Put(m)
}
