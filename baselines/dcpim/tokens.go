package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// firstToken is the priority of the first matched sender's tokens. The data of
// short messages, which needs no tokens, comes before
// (PimEpoch::schedule_receiver_iter_evt; PimFlow::assign_init_token).
const (
	unscheduledData = 1
	firstToken      = 2
	lastToken       = 15 // of matched senders before their data phase
)

// nextToken sends the next TOKEN to a matched sender: for its shortest message,
// paced at line rate x channels / k (README, Tokens; PIM_Vlink::send_token). If
// none may be sent yet, at is when one may.
func (s *DCPIM) nextToken(now Time, p *transport.Packet) (at Time, ok bool) {
	r := &s.receiver
	at = units.Never
	if now >= r.skipUntil {
		r.skip = 0
	}
	for _, x := range [...]*matching{&r.active, &r.building} {
		later, ok := s.nextTokenOf(now, x, p)
		if ok {
			return 0, true
		}
		at = min(at, later)
	}
	return at, false
}

// nextTokenOf is nextToken for the open channels of one matching.
func (s *DCPIM) nextTokenOf(now Time, x *matching, p *transport.Packet) (at Time, ok bool) {
	r := &s.receiver
	at = units.Never
	for k := range x.links {
		l := &x.links[k]
		m := l.peer.ungranted.Top()
		if m == nil || l.open == 0 {
			l.pacer.Pause(now) // a wait for messages is not made up for, one for the uplink is
			continue
		}
		for r.skip > 0 && l.pacer.Ready(now) {
			r.skip--
			l.pacer.Sent(now, s.frame, s.timing.tokenSlack)
		}
		if !l.pacer.Ready(now) {
			at = min(at, l.pacer.At())
			continue
		}
		window := r.tokenWindow * int64(l.open) / int64(s.params.Channels)
		if m.outstanding() > window {
			if open := m.tokenAt + s.timing.windowTimeout; now < open {
				at = min(at, open)
				l.pacer.Pause(now)
				continue
			}
			r.outstanding += window - m.outstanding()
			m.answeredSeq = m.tokens - 1 - window
			s.env.Sink.Count(&windowTimeouts, 1)
		}
		s.sendToken(now, x, l, m, p)
		return 0, true
	}
	return at, false
}

var (
	windowTimeouts = transport.Counter{Name: "token_window_timeouts"}
	tokensResent   = transport.Counter{Name: "tokens_sent_again"}
)

// sendToken sends a TOKEN for the next missing packet. When all missing packets
// have one, the message rests for a timeout, and then starts again with the first
// packet that is still missing.
func (s *DCPIM) sendToken(now Time, x *matching, l *link, m *inMessage, p *transport.Packet) {
	from, _, _ := m.received.Gap(m.cursor, m.Size)
	n := min(s.mss, m.Size-from)
	l.pacer.Sent(now, s.framing.Wire(n), s.timing.tokenSlack)
	h := header{
		kind: token, id: m.ID, priority: l.priority, epoch: uint8(x.epoch & 15),
		seq: uint32(m.tokens), offset: uint32(from),
	}
	m.tokens++
	m.tokenAt = now
	s.receiver.outstanding++
	if m.repeated {
		s.env.Sink.Count(&tokensResent, 1)
	}
	m.cursor = from + n
	if _, _, more := m.received.Gap(m.cursor, m.Size); !more {
		s.rest(m, now+s.timing.resendTimeout)
	}
	p.Peer = m.from.id
	h.encode(p)
}

// rest lets a message wait for packets that have tokens or need none.
func (s *DCPIM) rest(m *inMessage, until Time) {
	m.from.ungranted.Remove(m)
	m.cursor = 0
	m.resting, m.restUntil = true, until
	s.receiver.resting.Set(m, Bytes(until))
}

// endRests returns messages whose rest is over to those that need tokens.
func (s *DCPIM) endRests(now Time) {
	r := &s.receiver
	for m := r.resting.Top(); m != nil && m.restUntil <= now; m = r.resting.Top() {
		r.resting.Remove(m)
		m.resting, m.repeated = false, true
		s.activate(m)
	}
}
