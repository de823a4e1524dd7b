package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending half of a host.
type sender struct {
	peers       []*outPeer // by HostID, nil until met
	active      []*outPeer // those with something to send
	count       int        // outbound messages not yet acknowledged
	credit      Bytes      // held, over all receivers
	unscheduled Bytes      // wire bytes of unscheduled prefixes still to be sent
}

func (s *SIRD) initSender() {
	s.sender.peers = make([]*outPeer, len(s.env.Fabric.Hosts))
	s.env.Sink.Gauge("credit_held", func() float64 { return float64(s.sender.credit) })
}

func (s *SIRD) outPeer(id transport.HostID) *outPeer {
	o := s.sender.peers[id]
	if o == nil {
		slot := func(m *outMessage) *queue.Slot { return &m.slot }
		o = &outPeer{
			id: id, unannounced: queue.NewHeap(slot), scheduled: queue.NewHeap(slot),
		}
		s.sender.peers[id] = o
	}
	return o
}

// Send implements transport.Transport.
func (s *SIRD) Send(now Time, m transport.Message) {
	s.quiet = false
	if !s.env.Fits(now, m, layout.MaxMessage) {
		return
	}
	o := s.outPeer(m.Peer)
	om := s.newOutMessage(now, o, m)
	if om.prefix == 0 {
		s.control.Push(note{peer: o.id, kind: data, flags: request, id: m.ID})
	}
	s.activate(o)
	s.silent.Arm(now)
}

func (s *SIRD) activate(o *outPeer) {
	if !o.active && !o.idle() {
		o.active = true
		s.sender.active = append(s.sender.active, o)
	}
}

// takeCredit brings the sender's view of what o has granted up to date. Totals
// of an older epoch are void, and so is credit held when a newer one begins.
func (s *SIRD) takeCredit(o *outPeer, h *header) {
	switch age := (h.epoch - o.epoch) & 15; {
	case age >= 8: // from before the last reclaim
		return
	case age > 0:
		s.sender.credit -= o.held()
		o.epoch, o.granted, o.spent = h.epoch, 0, 0
		s.control.Push(note{peer: o.id, kind: busy, id: o.messages.Next()}) // says so
	}
	if more := Bytes(int32(h.credit - o.granted)); more > 0 && o.held()+more <= maxHeld {
		o.granted = h.credit
		s.sender.credit += more
	}
}

// maxHeld bounds what a total may jump by: no receiver hands out more, so a
// larger step is a damaged or hostile header.
const maxHeld Bytes = 1 << 30

// spend takes wire bytes from the credit held for o.
func (s *SIRD) spend(o *outPeer, wire Bytes) {
	o.spent += uint32(wire)
	s.sender.credit -= wire
}

// returnUnused gives credit back that nothing is left to be spent on: it counts
// as spent, and a BUSY says so.
func (s *SIRD) returnUnused(o *outPeer) {
	if held := o.held(); held > 0 && o.idle() {
		s.spend(o, held)
		s.control.Push(note{peer: o.id, kind: busy, id: o.messages.Next()})
		s.env.Sink.Count(&creditReturned, int(held))
	}
}

var creditReturned = transport.Counter{Name: "credit_bytes_returned"}

func (s *SIRD) receiveCredit(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	s.takeCredit(o, h)
	if m := o.messages.Find(h.id); m != nil {
		m.answered(s, now)
	}
	s.activate(o)
	s.returnUnused(o)
}

func (s *SIRD) receiveAck(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	s.takeCredit(o, h)
	if m := o.messages.Find(h.id); m != nil {
		s.drop(o, m)
		s.env.Sink.Acked(now, m.Message)
	}
}

// answered notes that the receiver knows of m.
func (m *outMessage) answered(s *SIRD, now Time) {
	m.known, m.heard, m.tries = true, now, 0
}
