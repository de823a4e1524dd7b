package dcpim

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// Loss is covered by timeouts (README, Loss). Packets that a receiver has asked
// for and does not get, and what is missing of a short message, get new tokens
// after a rest (tokens.go); a lost matching packet costs its round. The
// remainder is here: a sender that hears nothing of a message sends its RTS
// again, which the receiver answers with RTSACK or, if it has everything, ACK;
// after MaxRetries without an answer the message fails. A receiver learns of
// that by GONE, by the floor that later messages carry, or in the end by
// silence.

var (
	announces = transport.Counter{Name: "messages_announced_again"}
	abandons  = transport.Counter{Name: "inbound_messages_abandoned"}
)

// timeouts does what is due by now.
func (s *DCPIM) timeouts(now Time) {
	s.wakeResting(now)
	for m := s.sender.timers.Top(); m != nil && m.look <= now; m = s.sender.timers.Top() {
		s.lookAfter(now, m)
	}
	for m := s.receiver.silent.Top(); m != nil && m.forget <= now; m = s.receiver.silent.Top() {
		if m.forget = m.heard + s.timing.abandonAfter; m.forget > now {
			s.receiver.silent.Set(m, Bytes(m.forget))
			continue
		}
		s.abandon(m)
	}
}

// nextTimeout returns when timeouts has something to do.
func (s *DCPIM) nextTimeout() Time {
	at := units.Never
	if m := s.receiver.resting.Top(); m != nil {
		at = min(at, m.until)
	}
	if m := s.sender.timers.Top(); m != nil {
		at = min(at, m.look)
	}
	if m := s.receiver.silent.Top(); m != nil {
		at = min(at, m.forget)
	}
	return at
}

func (s *DCPIM) setTimer(m *outMessage, at Time) {
	m.look = at
	s.sender.timers.Set(m, Bytes(at))
}

// lookAfter announces a message again of which nothing was heard for too long.
// One that waits for the uplink is not lost.
func (s *DCPIM) lookAfter(now Time, m *outMessage) {
	switch due := m.heard + m.wait; {
	case due > now:
		s.setTimer(m, due)
		return
	case m.ready.In():
		s.setTimer(m, now+m.wait)
		return
	}
	if m.tries >= s.params.MaxRetries {
		s.settle(m)
		s.env.Sink.Failed(now, m.Message, fmt.Sprintf("%s did not answer %d announcements", s.env.Fabric.HostName(m.Peer), m.tries))
		return
	}
	m.tries++
	m.heard = now
	m.wait = timer.Backoff(m.wait, s.timing.retryAfter)
	s.tell(m.Peer, header{kind: rts, id: m.ID})
	s.setTimer(m, now+m.wait)
	s.env.Sink.Count(&announces, 1)
}

// noSuchMessage tells a receiver that a message is settled here.
func (s *DCPIM) noSuchMessage(o *outPeer, id transport.MessageID) {
	if int32(id-o.messages.Next()) < 0 {
		s.tell(o.id, header{kind: gone, id: id})
	}
}

// receiveGone forgets a message that its sender has given up. Packets of it
// that are still in flight do not start a new one.
func (s *DCPIM) receiveGone(h *header, peer transport.HostID) {
	if i := s.receiver.peers[peer]; i != nil {
		if m := i.messages.Find(h.id); m != nil {
			s.abandon(m)
			i.messages.Done(h.id)
		}
	}
}

func (s *DCPIM) abandon(m *inMessage) {
	s.drop(m)
	s.env.Sink.Count(&abandons, 1)
}
