package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// receiver is the receiving half of a host.
type receiver struct {
	peers   []*inPeer // by HostID, nil until met
	met     []*inPeer // in the order of meeting
	wanting []*inPeer // those with messages that want credit
	limit   Bytes     // B
	used    Bytes     // of it: credit out to all senders, and expected unscheduled bytes
	pacer   timer.Pacer
	turns   uint64
}

// gaugedHosts is the size of fabric up to which each sender's bucket is a gauge
// of its own.
const gaugedHosts = 16

func (s *SIRD) initReceiver() {
	rate := float64(s.env.Fabric.Downlink(s.env.Self).Rate) * s.params.CreditRate
	s.receiver = receiver{
		peers: make([]*inPeer, len(s.env.Fabric.Hosts)),
		limit: s.params.B.of(s.params.BDP),
		pacer: timer.Pacer{Rate: units.BitsPerSecond(rate)},
	}
	s.env.Sink.Gauge("credit_out", func() float64 { return float64(s.receiver.used) })
	s.env.Sink.Gauge("credit_available", func() float64 { return float64(s.receiver.limit - s.receiver.used) })
}

func (s *SIRD) inPeer(id transport.HostID) *inPeer {
	i := s.receiver.peers[id]
	if i == nil {
		i = &inPeer{
			id: id, loops: newLoops(&s.params, s.frame),
			messages: account.NewIncoming[inMessage](),
			want:     queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
		}
		s.receiver.peers[id] = i
		s.receiver.met = append(s.receiver.met, i)
		if len(s.env.Fabric.Hosts) <= gaugedHosts {
			name := s.env.Fabric.HostName(id)
			s.env.Sink.Gauge("bucket/"+name, func() float64 { return float64(i.bucket()) })
			s.env.Sink.Gauge("credit_out/"+name, func() float64 { return float64(i.inFlight()) })
		}
	}
	return i
}

// takeSpent brings the receiver's view of what a sender has spent up to date,
// which replenishes B and the sender's bucket.
func (s *SIRD) takeSpent(i *inPeer, h *header) {
	if (i.epoch-h.epoch)&15 < (i.epoch-i.known)&15 {
		i.known = h.epoch
	}
	if h.epoch != i.epoch {
		return
	}
	back := int32(h.credit - i.spent)
	if back > 0 && back <= int32(i.granted-i.spent) {
		i.spent = h.credit
		s.receiver.used -= Bytes(back)
	}
}

func (s *SIRD) receiveData(now Time, h *header, p *transport.Packet) {
	i := s.inPeer(p.Peer)
	s.takeSpent(i, h)
	i.messages.RaiseFloor(h.id, h.behind, nil)
	n := Bytes(p.PayloadLen)
	from, size := Bytes(h.offset), Bytes(h.length)
	if size == 0 || n == 0 && h.flags&request == 0 || n > 0 && (from%s.mss != 0 || n != min(s.mss, size-from)) {
		return // makes no sense
	}
	m := i.messages.Find(h.id)
	if m == nil {
		if i.messages.IsDone(h.id) {
			s.control.Push(note{peer: i.id, kind: ack, id: h.id})
			return
		}
		m = s.newInMessage(now, i, h)
		if i.farBehind() { // tell it the epoch
			s.control.Push(note{peer: i.id, kind: busy, flags: request, id: h.id})
		}
	} else if m.complete {
		s.control.Push(note{peer: i.id, kind: ack, id: h.id})
		return
	} else if m.Size != Bytes(h.length) {
		return
	} else if h.flags&request != 0 {
		// The sender wonders: tell it that the message waits for its turn.
		s.control.Push(note{peer: i.id, kind: busy, flags: request, id: h.id})
	}
	if n > 0 {
		s.takeBytes(now, i, m, h, p)
	}
}

func (s *SIRD) newInMessage(now Time, i *inPeer, h *header) *inMessage {
	m := &inMessage{from: i, heard: now}
	m.ID, m.Tag, m.Peer, m.Size = h.id, h.tag, i.id, Bytes(h.length)
	// No sender takes more than a BDP, or a packet, without credit.
	m.prefix = min(m.Size, Bytes(h.prefix)*s.mss, (s.params.BDP/s.frame+1)*s.mss)
	m.granted = m.prefix
	i.messages.Add(m.ID, m)
	if s.params.AccountUnscheduled {
		m.uncounted = s.wireOfRange(m.prefix)
		i.charged += m.uncounted
		s.receiver.used += m.uncounted
	}
	if m.granted < m.Size {
		s.wantCredit(m)
	}
	return m
}

// uncharge takes up to wire bytes of m's unscheduled prefix off B and its
// sender's bucket.
func (s *SIRD) uncharge(m *inMessage, wire Bytes) {
	wire = min(wire, m.uncounted)
	m.uncounted -= wire
	m.from.charged -= wire
	s.receiver.used -= wire
}

func (s *SIRD) takeBytes(now Time, i *inPeer, m *inMessage, h *header, p *transport.Packet) {
	from, n := Bytes(h.offset), Bytes(p.PayloadLen)
	m.heard, m.asked = now, 0
	fresh := m.got.Add(from, from+n)
	if fresh == 0 {
		s.env.Sink.Count(&duplicates, 1)
		// All is there, as far as the sender knows it is not: its question is
		// answered when the message is complete.
		if h.flags&scheduled == 0 {
			s.control.Push(note{peer: i.id, kind: busy, flags: request, id: m.ID})
		}
		return
	}
	if h.flags&scheduled == 0 {
		s.uncharge(m, s.wireOf(n))
	}
	// Packets are cut at the same places whenever they are sent (receiveData saw to
	// it), so bytes are new all together or not at all.
	s.env.Sink.Data(now, m.Message, from, int(n), p.Payload)
	if m.slot.In() {
		s.wantCredit(m)
	}
	if m.left() == 0 {
		s.completeIn(now, m)
	}
}

var duplicates = transport.Counter{Name: "duplicate_data"}

func (s *SIRD) completeIn(now Time, m *inMessage) {
	m.complete = true
	s.uncharge(m, m.uncounted)
	m.from.messages.Done(m.ID)
	s.control.Push(note{peer: m.from.id, kind: ack, id: m.ID})
	s.settle(m)
	s.env.Sink.Delivered(now, m.Message)
}

// settle forgets a message that is complete and fully granted.
func (s *SIRD) settle(m *inMessage) {
	if m.complete && m.granted == m.Size {
		m.from.want.Remove(m)
		m.from.messages.Drop(m.ID)
	}
}
