package dcpim

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// Loss is covered by timeouts (README, Loss). Packets that had tokens and do not
// arrive, and what is missing of a short message, get new tokens after a rest
// (tokens.go); a lost matching packet costs its round. The remainder is here. A
// sender without an answer about a message sends its RTS again, which the receiver
// answers with RTSACK or, if it has everything, with ACK. After MaxRetries without
// an answer the message fails. Its receiver abandons it because of a GONE, of the
// floor that later messages carry, or in the end of a timeout.

var (
	announces = transport.Counter{Name: "messages_announced_again"}
	abandons  = transport.Counter{Name: "inbound_messages_abandoned"}
)

// checkTimers does what timers are due for.
func (s *DCPIM) checkTimers(now Time) {
	s.endRests(now)
	for m := s.sender.timers.Top(); m != nil && m.checkAt <= now; m = s.sender.timers.Top() {
		s.checkAnswered(now, m)
	}
	for m := s.receiver.timers.Top(); m != nil && m.checkAt <= now; m = s.receiver.timers.Top() {
		if m.checkAt = m.lastProgress + s.timing.abandonTimeout; m.checkAt > now {
			s.receiver.timers.Set(m, Bytes(m.checkAt))
			continue
		}
		s.abandon(m)
	}
}

// nextTimer returns when the next timer is due.
func (s *DCPIM) nextTimer() Time {
	at := units.Never
	if m := s.receiver.resting.Top(); m != nil {
		at = min(at, m.restUntil)
	}
	if m := s.sender.timers.Top(); m != nil {
		at = min(at, m.checkAt)
	}
	if m := s.receiver.timers.Top(); m != nil {
		at = min(at, m.checkAt)
	}
	return at
}

func (s *DCPIM) setTimer(m *outMessage, at Time) {
	m.checkAt = at
	s.sender.timers.Set(m, Bytes(at))
}

// checkAnswered announces a message again if it has had no answer for too long. A
// message that waits for the uplink is not lost: its time begins when it no longer does.
func (s *DCPIM) checkAnswered(now Time, m *outMessage) {
	switch due := m.lastActivity + m.timeout; {
	case due > now:
		s.setTimer(m, due)
		return
	case m.ready.In():
		s.sender.timers.Remove(m)
		return
	}
	if m.attempts >= s.params.MaxRetries {
		s.settle(m)
		s.env.Sink.Failed(now, m.Message,
			fmt.Sprintf("%s did not answer %d announcements", s.env.Fabric.HostName(m.Peer), m.attempts))
		return
	}
	m.attempts++
	m.lastActivity = now
	m.timeout = timer.Backoff(m.timeout, s.timing.announceTimeout)
	s.queueControl(m.Peer, header{kind: rts, id: m.ID})
	s.setTimer(m, now+m.timeout)
	s.env.Sink.Count(&announces, 1)
}

// sendGone answers a receiver that a message is settled here.
func (s *DCPIM) sendGone(o *outPeer, id transport.MessageID) {
	if int32(id-o.messages.Next()) < 0 {
		s.queueControl(o.id, header{kind: gone, id: id})
	}
}

// receiveGone abandons a message that its sender has given up. Packets of it that
// are still under way do not begin it anew.
func (s *DCPIM) receiveGone(h *header, peer transport.HostID) {
	if i := s.receiver.peers[peer]; i != nil {
		if m := i.messages.Find(h.id); m != nil {
			s.abandon(m)
			i.messages.Done(h.id)
		}
	}
}

func (s *DCPIM) abandon(m *inMessage) {
	s.forget(m)
	s.env.Sink.Count(&abandons, 1)
}
