package sird

import (
	"math/bits"

	"sirdbed/sirdnode/transport"
)

// Lives of hosts (README, Restarts). Every packet names the incarnations of both ends, and is
// looked at only if they are those that this end knows. A peer that has another one has
// restarted, and what was exchanged with its last life ends.

// A life is what a host knows of a peer's incarnation.
type life struct {
	now, before transport.Incarnation
	met         bool // something has come from it
	restarted   bool // before counts
	since       Time // when now was first heard of
	greetedAt   Time // when it was last told of a restart of this host
	greeted     bool
}

// pairOf is what scheduled data has in place of both incarnations, of 2 bytes each. It
// differs whenever one of them does.
func pairOf(sender, receiver transport.Incarnation) transport.Incarnation {
	return transport.Incarnation(bits.RotateLeft16(uint16(sender), 8)) ^ receiver
}

// address names both ends' incarnations in a header to a peer; 0 is one that is not known.
func (e *endpoint) address(h *header, peer transport.HostID) {
	h.from, h.to = e.env.Incarnation, e.lives[peer].now
	if h.kind == data {
		h.from, h.to = pairOf(h.from, h.to), 0
	}
}

// admit reports whether a packet is of this life of both ends. It takes over a peer's new
// life, and tells a peer that does not know of this host's.
func (s *SIRD) admit(now Time, h *header, peer transport.HostID) bool {
	l := &s.lives[peer]
	own := s.env.Incarnation
	switch {
	case h.kind == data && h.from == pairOf(l.now, own):
		return true
	case h.kind == data:
		s.greet(now, peer)
		return false
	case l.restarted && h.from == l.before && h.from != l.now: // late
		return false
	case h.to != own && (h.to != 0 || h.kind != unscheduled && h.kind != busy):
		s.greet(now, peer)
		return false
	case l.met && h.from != l.now:
		// Of two lives that are heard of at once the one heard first may be the later: a packet of the other
		// was late. It is the one that is still heard when no packet can be late.
		if now-l.since < s.params.LossTimeout {
			return false
		}
		s.renew(now, peer)
		l.before, l.restarted, l.since = l.now, true, now
	case !l.met:
		l.since = now
	}
	l.now, l.met = h.from, true
	return true
}

// greet tells a peer, at most once a round, that this host has begun a new life. The BUSY
// is of no message.
func (s *SIRD) greet(now Time, peer transport.HostID) {
	l := &s.lives[peer]
	if l.greeted && now-l.greetedAt < s.round {
		return
	}
	l.greeted, l.greetedAt = true, now
	s.control.Push(controlPacket{peer: peer, kind: busy, id: s.sender.peer(peer).messages.Next()})
}

// renew ends what was exchanged with the last life of a peer.
func (s *SIRD) renew(now Time, peer transport.HostID) {
	for range s.control.Len() {
		if c, _ := s.control.Pop(); c.peer != peer {
			s.control.Push(c)
		}
	}
	s.debts[peer] = debt{}
	if i := s.receiver.peers[peer]; i != nil {
		s.receiver.renew(i)
	}
	if o := s.sender.peers[peer]; o != nil {
		s.sender.renew(now, o)
	}
	s.env.Sink.Count(&restarts, 1)
}

var restarts = transport.Counter{Name: "peer_restarts"}

// renew forgets the messages of a sender's last life, and all of its credit.
func (r *receiver) renew(i *inPeer) {
	for m := range i.messages.All() {
		r.abandon(m)
	}
	r.indebted.Remove(i)
	r.full.Remove(i)
	r.short.Remove(i)
	if i.suspended {
		r.suspended--
	} else {
		r.outstanding -= i.credit()
	}
	fresh := newInPeer(i.id, r.endpoint)
	fresh.turn, fresh.tolerance = i.turn, i.tolerance
	*i = *fresh
}

// renew fails the messages that a receiver's last life may have had, and drops its credit.
// Those of which nothing was sent go to the new one.
func (s *sender) renew(now Time, o *outPeer) {
	s.held -= o.held()
	o.epoch, o.granted, o.spent, o.known, o.attempts = 0, 0, 0, o.messages.Floor(), 0
	for m := range o.messages.All() {
		m.confirmed = false
		if !m.begun {
			continue
		}
		s.remove(o, m)
		s.env.Sink.Failed(now, m.Message, s.env.Fabric.HostName(o.id)+" has restarted: the outcome is unknown")
	}
}
