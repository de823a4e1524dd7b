package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// firstToken is the priority of the first matched sender's tokens. Short
// messages, which need no tokens, come before them
// (PimEpoch::schedule_receiver_iter_evt; PimFlow::assign_init_token).
const (
	freeData   = 1
	firstToken = 2
)

// nextToken sends the next TOKEN to a matched sender: for its shortest message,
// paced at line rate x channels / k (README, Tokens; PIM_Vlink::send_token). If
// none may be sent yet, at is when one may.
func (s *DCPIM) nextToken(now Time, p *transport.Packet) (at Time, ok bool) {
	r := &s.receiver
	at = units.Never
	if now >= r.holdUntil {
		r.hold = 0
	}
	for k := range r.active.links {
		l := &r.active.links[k]
		m := l.peer.want.Top()
		if m == nil {
			continue
		}
		for r.hold > 0 && l.pacer.Ready(now) {
			r.hold--
			l.pacer.Sent(now, s.frame, units.Nanosecond)
		}
		if !l.pacer.Ready(now) {
			at = min(at, l.pacer.At())
			continue
		}
		window := r.window * int64(l.channels) / int64(s.params.Channels)
		if m.gap() > window {
			if open := m.tokenAt + s.timing.windowAfter; now < open {
				at = min(at, open)
				continue
			}
			r.outstanding += window - m.gap()
			m.heardSeq = m.tokens - 1 - window
			s.env.Sink.Count(&windowTimeouts, 1)
		}
		s.sendToken(now, l, m, p)
		return 0, true
	}
	return at, false
}

var (
	windowTimeouts = transport.Counter{Name: "token_window_timeouts"}
	tokensAgain    = transport.Counter{Name: "tokens_sent_again"}
)

// sendToken asks for the next missing packet. When all missing packets have
// been asked for, the message rests for a timeout, and then starts again with
// the first one still missing.
func (s *DCPIM) sendToken(now Time, l *link, m *inMessage, p *transport.Packet) {
	from, _, _ := m.got.Gap(m.cursor, m.Size)
	n := min(s.mss, m.Size-from)
	l.pacer.Sent(now, s.framing.Wire(n), units.Nanosecond)
	h := header{
		kind: token, id: m.ID, priority: l.priority, epoch: uint8(s.receiver.active.epoch & 15),
		seq: uint32(m.tokens), offset: uint32(from),
	}
	m.tokens++
	m.tokenAt = now
	s.receiver.outstanding++
	if m.again {
		s.env.Sink.Count(&tokensAgain, 1)
	}
	m.cursor = from + n
	if _, _, more := m.got.Gap(m.cursor, m.Size); !more {
		s.rest(m, now+s.timing.resendAfter)
	}
	p.Peer = m.from.id
	h.encode(p)
}

// rest has a message wait for packets that it has asked for, or that need no
// tokens.
func (s *DCPIM) rest(m *inMessage, until Time) {
	m.from.want.Remove(m)
	m.cursor = 0
	m.resting, m.until = true, until
	s.receiver.resting.Set(m, Bytes(until))
}

// wakeResting has messages whose rest is over ask for channels and tokens
// again.
func (s *DCPIM) wakeResting(now Time) {
	r := &s.receiver
	for m := r.resting.Top(); m != nil && m.until <= now; m = r.resting.Top() {
		r.resting.Remove(m)
		m.resting, m.again = false, true
		s.wantTokens(m)
	}
}
