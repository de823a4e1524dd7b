package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending role of a host: Algorithm 2.
type sender struct {
	*endpoint
	peers []*outPeer // by HostID, nil before the first packet to or from them

	// Those that can be sent to now, by their deficit and by the bytes left of their message.
	activeReceivers, shortest queue.Heap[outPeer]
	level                     int64 // of deficits, what all receivers share

	messages    int   // outbound ones with bytes to send
	held        Bytes // credit held, over all receivers
	congestion  Bytes // SThr, above which this sum counts as congestion
	unscheduled Bytes // wire bytes of unscheduled prefixes still to be sent

	spare  queue.Free[outMessage]
	silent queue.Heap[outPeer] // receivers of messages that are not acknowledged, by due
}

func newSender(e *endpoint) sender {
	return sender{
		endpoint: e, peers: make([]*outPeer, len(e.env.Fabric.Hosts)),
		congestion:      e.params.SThr.of(e.bdpOf(e.env.Self)),
		activeReceivers: queue.NewHeap(func(o *outPeer) *queue.Slot { return &o.able }),
		shortest:        queue.NewHeap(func(o *outPeer) *queue.Slot { return &o.byLength }),
		silent:          queue.NewHeap(func(o *outPeer) *queue.Slot { return &o.timer }),
	}
}

// peer returns the state of a receiver, new when it is first needed.
func (s *sender) peer(id transport.HostID) *outPeer {
	o := s.peers[id]
	if o == nil {
		o = newOutPeer(id)
		o.tolerance = s.leastTolerance(id)
		s.peers[id] = o
	}
	return o
}

// begin takes a message from the application. Without an unscheduled prefix it is
// announced by a request. If it does not fit the header the Sink has the failure.
func (s *sender) begin(now Time, m transport.Message) {
	if !s.env.Fits(now, m, layout.MaxMessage) {
		return
	}
	o := s.peer(m.Peer)
	om := s.newOutMessage(now, o, m)
	if om.prefix == 0 {
		s.control.Push(controlPacket{peer: o.id, kind: unscheduled, flags: request, id: m.ID})
		s.begun(now, o, om)
	}
	s.place(o)
}

// onCreditPacket is Algorithm 2, lines 1 to 3. A receiver's BUSY is one as well:
// it carries the same total.
func (s *sender) onCreditPacket(now Time, h *header, peer transport.HostID) {
	o := s.peer(peer)
	s.addCredit(o, h) // line 2
	m := o.messages.Find(h.id)
	if m != nil {
		m.confirm(now)
	}
	if h.kind == busy {
		s.learnKnown(o, transport.MessageID(h.length))
	}
	if h.kind == credit && h.flags&request != 0 {
		s.answer(o, h.id)
	}
	s.returnUnused(o)
}

// addCredit takes over what a receiver has granted. Totals of an older epoch are
// void, and so is the credit held when a newer one begins (README, Header).
func (s *sender) addCredit(o *outPeer, h *header) {
	switch age := (h.epoch - o.epoch) & 15; {
	case age >= 8: // from before the last reclaim
		return
	case age > 0:
		s.held -= o.held()
		o.epoch, o.granted, o.spent = h.epoch, 0, 0
		s.control.Push(controlPacket{peer: o.id, kind: busy, id: o.messages.Next()}) // shows the new epoch
	}
	if credit := Bytes(int32(h.credit - o.granted)); credit > 0 && o.held()+credit <= maxHeld {
		o.granted = h.credit
		o.waits = 0
		s.held += credit
	}
}

// maxHeld is the most credit a sender takes from one receiver. No receiver grants
// as much, so a larger step comes from a damaged or hostile header.
const maxHeld Bytes = 1 << 30

// spend takes wire bytes from the credit that o has granted.
func (s *sender) spend(o *outPeer, wire Bytes) {
	o.spent += uint32(wire)
	s.held -= wire
}

// returnUnused gives back credit that there is nothing left to spend on: it
// counts as spent, and a BUSY carries the total.
func (s *sender) returnUnused(o *outPeer) {
	if held := o.held(); held > 0 && !o.backlogged() {
		s.spend(o, held)
		s.control.Push(controlPacket{peer: o.id, kind: busy, id: o.messages.Next()})
		s.env.Sink.Count(&creditReturned, int(held))
	}
}

var creditReturned = transport.Counter{Name: "credit_bytes_returned"}
