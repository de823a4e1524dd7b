package sird

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

// A sender announces a message again when nothing has shown for too long that the
// receiver knows it, or, once all of it was sent, that it has it: nobody else misses a
// message of which all was lost. It does so for one message of a receiver at a time, and not
// for those that wait at a receiver that has shown to know them (README, Loss and silence).

var (
	announces = transport.Counter{Name: "messages_announced_again"}
	checks    = transport.Counter{Name: "receivers_checked"}
)

// leastAnnounce is after how many rounds a message is announced again at the earliest.
const leastAnnounce = 32

// An unanswered list has messages by when they were last sent from.
type unanswered struct{ queue.FIFO[*outMessage] }

// front returns the first message of a list, nil if there is none, and drops those that need no
// answer any more.
func (s *sender) front(u *unanswered, answered func(*outMessage) bool) *outMessage {
	for u.Len() > 0 {
		m := *u.Front()
		if !answered(m) {
			return m
		}
		u.Pop()
		m.listed--
		s.recycle(m)
	}
	return nil
}

// list puts m at the end of a list, and drops what is settled at its front.
func (s *sender) list(u *unanswered, m *outMessage) {
	s.front(u, isSettled)
	m.listed++
	u.Push(m)
}

func isSettled(m *outMessage) bool { return m.settled }

// oldest returns the message to o that has gone without an answer for longest, nil if there is
// none.
func (s *sender) oldest(o *outPeer) (*outMessage, *unanswered) {
	m := s.front(&o.unknown, func(m *outMessage) bool { return m.settled || o.knows(m) || m.unsent() == 0 })
	whole := s.front(&o.whole, isSettled)
	if m == nil || whole != nil && whole.lastActivity < m.lastActivity {
		return whole, &o.whole
	}
	return m, &o.unknown
}

// patience is how long a receiver may take to answer: longer than it usually does, which is
// long where messages queue up.
func (s *sender) patience(o *outPeer) Time {
	most := 2 * s.params.LossTimeout
	if s.params.LossDetection == "silence" {
		return most
	}
	return min(most, s.staggered(max(leastAnnounce*s.round, 4*o.slowest))<<min(o.attempts, 16))
}

// staggered returns a time up to a quarter longer, by host: senders to one receiver do not ask
// all at once.
func (s *sender) staggered(wait Time) Time {
	return wait + wait/4*Time(uint32(s.env.Self)*40503>>4&255)/256
}

// begun notes that o is to answer for m.
func (s *sender) begun(now Time, o *outPeer, m *outMessage) {
	m.begun = true
	s.list(&o.unknown, m)
	s.expectAnswer(now, o)
}

// expectAnswer has a receiver looked at when it is to have answered, or before.
func (s *sender) expectAnswer(now Time, o *outPeer) {
	if due := now + s.patience(o); !o.timer.In() || due < o.due {
		s.checkAt(o, due)
	}
}

func (s *sender) checkAt(o *outPeer, at Time) {
	o.due = at
	s.silent.Set(o, Bytes(at))
}

// heard notes a packet from o in its role of a receiver.
func (s *sender) heard(now Time, o *outPeer) {
	o.heardAt = now
	if o.attempts > 0 {
		o.attempts = 0
		s.checkAt(o, now+2*s.round)
	}
}

// tick announces what is due by now.
func (s *sender) tick(now Time) {
	for o := s.silent.Top(); o != nil && o.due <= now; o = s.silent.Top() {
		s.checkReceiver(now, o)
	}
}

// wakeAt returns when tick is to be called next.
func (s *sender) wakeAt() Time {
	if o := s.silent.Top(); o != nil {
		return o.due
	}
	return units.Never
}

func (s *sender) checkReceiver(now Time, o *outPeer) {
	if o.messages.Len() == 0 {
		s.silent.Remove(o)
		s.front(&o.unknown, isSettled)
		s.front(&o.whole, isSettled)
		return
	}
	m, list := s.oldest(o)
	due := o.announcedAt + 2*s.round
	pinned := s.pinned(o)
	if pinned != nil {
		m, due = pinned, s.askPinnedAt(o, pinned)
	} else if m != nil {
		due = max(due, m.lastActivity+s.patienceWith(o, m))
	} else {
		// The receiver knows all that was sent, and grants credit as it comes to it.
		wait := 2 * s.patience(o)
		if !o.underWay() {
			wait <<= min(o.waits, 8)
		}
		due = max(due, o.heardAt, o.announcedAt) + min(wait, s.staggered(4*s.params.LossTimeout))
	}
	if o.attempts > 0 && pinned == nil {
		due = max(due, o.announcedAt+s.patience(o))
	}
	if now < due {
		s.checkAt(o, due)
		return
	}
	counter := &announces
	if m == nil {
		counter = &checks
		if m = o.messages.Find(o.messages.Floor()); !m.begun {
			s.checkAt(o, now+2*s.params.LossTimeout)
			return
		}
		o.waits++
	} else if pinned == nil {
		list.Pop()
		list.Push(m)
	}
	if o.attempts == 0 {
		o.silentSince = now
	}
	if o.attempts >= s.params.MaxResends {
		s.giveUp(now, o)
		if m.settled {
			s.checkAt(o, now)
			return
		}
	}
	o.attempts++
	o.announcedAt = now
	m.sentAt, m.lastActivity, m.again, m.answerIn = now, now, true, 0
	c := controlPacket{peer: o.id, kind: unscheduled, id: m.ID, flags: request}
	if !o.knows(m) && m.prefix > 0 { // the first packet again
		c.flags, c.length = 0, min(s.mss, m.prefix)
	}
	s.control.Push(c)
	s.env.Sink.Count(counter, 1)
	s.checkAt(o, now+s.patience(o))
}

// How long a receiver may not answer, in attempts of a LossTimeout each: less where it has not shown
// that it knows the message.
const (
	unknownSilence = 2
	knownSilence   = 24
)

// giveUp fails messages to a receiver that does not answer, of which anything was sent.
func (s *sender) giveUp(now Time, o *outPeer) {
	each := Time(s.params.MaxResends) * s.params.LossTimeout
	silent := now - o.silentSince
	if silent < unknownSilence*each {
		return
	}
	reason := fmt.Sprintf("%s did not answer %d attempts in %v", s.env.Fabric.HostName(o.id), o.attempts,
		silent)
	for m := range o.messages.All() {
		if m.begun && (!o.knows(m) || silent >= knownSilence*each) {
			s.remove(o, m)
			s.env.Sink.Failed(now, m.Message, reason)
		}
	}
}

// learnKnown takes over from a receiver below which id it knows all messages. If it has
// abandoned some they have to be announced again.
func (s *sender) learnKnown(o *outPeer, known transport.MessageID) {
	if int32(known-o.known) < 0 {
		for m := range o.messages.All() {
			if m.begun && int32(m.ID-known) >= 0 && m.unsent() > 0 && o.knows(m) {
				m.confirmed = false
				s.list(&o.unknown, m)
			}
		}
	}
	o.known = known
}

// underWay reports whether the receiver has given credit for the message that is sent next. It
// would hardly stop to, unless it has died or prefers others.
func (o *outPeer) underWay() bool {
	m := o.scheduled.Top()
	return m != nil && m.sent > m.prefix
}

// knows reports whether the receiver has shown that it knows a message.
func (o *outPeer) knows(m *outMessage) bool { return m.confirmed || int32(m.ID-o.known) < 0 }
