package sird

import "sirdbed/sirdnode/transport"

// Credit that makes no progress (README, Silence). A sender whose credit is out is asked
// where it is, by a CREDIT with the total that it has been granted. That makes up for
// lost ones, and the BUSY in answer follows what the sender has sent: whatever it says was
// sent and has not arrived is lost. Credit of a sender that answers nothing is
// suspended: it is not counted as out any more, until it makes progress.

var (
	probes      = transport.Counter{Name: "credit_probes"}
	suspensions = transport.Counter{Name: "credit_suspensions"}
	reclaims    = transport.Counter{Name: "credit_reclaims"}
)

const (
	patience      = 4 // rounds without progress after which a sender is asked
	probeInterval = 2 // rounds until it is asked again
	leastProbes   = 3 // without an answer until its credit is suspended
)

// tick does what is due by now.
func (r *receiver) tick(now Time) {
	r.findLost(now)
	r.nameWaiting(now)
	r.acknowledgeDue(now)
	r.expirePrefixes(now)
	for m := r.unfinished.Top(); m != nil && m.due <= now; m = r.unfinished.Top() {
		r.checkMessage(now, m)
	}
	for i := r.indebted.Top(); i != nil && i.due <= now; i = r.indebted.Top() {
		r.checkSender(now, i)
	}
}

// wakeAt returns when tick is to be called next.
func (r *receiver) wakeAt() Time {
	at := r.acksAt()
	if r.suspects.Len() > 0 {
		at = min(at, r.suspects.Front().due)
	}
	if r.unnamed.Len() > 0 {
		at = min(at, r.unnamed.Front().due)
	}
	if r.prefixes.Len() > 0 {
		at = min(at, r.prefixesDue())
	}
	if m := r.unfinished.Top(); m != nil {
		at = min(at, m.due)
	}
	if i := r.indebted.Top(); i != nil {
		at = min(at, i.due)
	}
	return at
}

// watch has the time of a message run from now on, if bytes of it are missing that may have
// been sent, and that of its sender, if it has credit.
func (r *receiver) watch(now Time, m *inMessage) {
	i := m.from
	if !m.timer.In() && m.overdue() {
		m.probes = 0
		m.progress(now)
		r.checkMessageAt(m, now+r.patience)
	}
	if !i.timer.In() && i.credit() != 0 {
		i.lastProgress, i.probes = now, 0
		r.checkSenderAt(i, now+r.patience)
	}
}

func (r *receiver) checkMessageAt(m *inMessage, at Time) {
	m.due = at
	r.unfinished.Set(m, Bytes(at))
}

func (r *receiver) checkSenderAt(i *inPeer, at Time) {
	i.due = at
	r.indebted.Set(i, Bytes(at))
}

// checkMessage asks after a message that makes no progress, less and less often while
// the answer is that it waits. A message of which nothing is known for too long is
// abandoned.
func (r *receiver) checkMessage(now Time, m *inMessage) {
	wait := min(r.patience<<m.probes, max(r.patience, r.params.LossTimeout))
	due := max(m.lastProgress, m.askedAt) + wait
	switch {
	case !m.overdue():
		r.unfinished.Remove(m)
		return
	case now < due:
		r.checkMessageAt(m, due)
		return
	case m.waits() && !m.from.suspended: // for credit
		m.struckAt = now
	default:
		// Time that passed while this host did not run is one strike, however much.
		if now-max(m.lastProgress, m.struckAt) >= r.params.LossTimeout {
			m.strikes++
			m.struckAt = now
		}
		if m.strikes > r.params.MaxResends {
			r.abandonWith(m)
			r.place(m.from)
			return
		}
		if m.from.probes == 0 { // nor is its sender being asked
			r.ask(now, m)
		}
	}
	r.checkMessageAt(m, now+wait)
}

// progress notes that something was heard of a message.
func (m *inMessage) progress(now Time) { m.lastProgress, m.strikes = now, 0 }

// ask asks the sender of a message how far it is with it.
func (r *receiver) ask(now Time, m *inMessage) {
	m.probes = min(m.probes+1, 16)
	m.askedAt = now
	r.probe(now, m.from, m.ID)
}

// checkSender asks a sender whose credit makes no progress for an answer, suspends the
// credit when there is none, and reclaims it when there is none for long.
func (r *receiver) checkSender(now Time, i *inPeer) {
	if i.credit() == 0 {
		r.indebted.Remove(i)
		return
	}
	due := i.lastProgress + r.patience
	if i.probes > 0 {
		due = i.probedAt + r.probeAgain(i)
	}
	if now < due {
		r.checkSenderAt(i, due)
		return
	}
	long := now-i.lastProgress >= 2*r.params.LossTimeout
	if !i.suspended && i.probes >= leastProbes-1 {
		switch others := long || r.othersArrive(i); {
		case !others: // in time for the last probe
			r.probeOthers(now, i)
		case i.probes >= leastProbes:
			r.suspend(i)
		}
	}
	if i.suspended && long && (i.credit() > r.frame || i.messages.Len() == 0) {
		r.reclaim(now, i)
	}
	r.place(i)
	if i.credit() == 0 {
		r.indebted.Remove(i)
		return
	}
	r.probe(now, i, i.lastGranted)
	r.checkSenderAt(i, now+r.probeAgain(i))
}

// probeAgain is how long after a probe without an answer the next one follows.
func (r *receiver) probeAgain(i *inPeer) Time {
	again := min(probeInterval*r.patience/patience, r.patience)
	if i.suspended {
		return min(again<<min(i.probes, 16), max(again, r.params.LossTimeout/2))
	}
	if i.probes > leastProbes { // nothing comes from others
		return r.patience
	}
	return again
}

// probe asks a sender how far it is with a message.
func (r *receiver) probe(now Time, i *inPeer, id transport.MessageID) {
	if i.credit() != 0 {
		if i.probes == 0 {
			i.firstProbe = now
		}
		i.probes++
		i.probedAt = now
	}
	r.control.Push(controlPacket{peer: i.id, kind: credit, flags: request, id: id})
	r.env.Sink.Count(&probes, 1)
}

// probeOthers asks a few other senders for an answer: some may have died together. If none comes
// the fault may lie with the receiver's own link.
func (r *receiver) probeOthers(now Time, i *inPeer) {
	asked := 0
	for range min(len(r.known), mostSeen) {
		r.asked++
		other := r.known[r.asked%len(r.known)]
		if other == i || other.suspended || other.probes > 0 || other.messages.Len() == 0 {
			continue
		}
		r.probe(now, other, other.lastGranted)
		if asked++; asked == mostAsked {
			return
		}
	}
}

const (
	mostSeen  = 16 // senders among which probeOthers looks for some with messages
	mostAsked = 4  // of them it asks
)

// arrives notes that something came from a sender in the class of scheduled data.
func (r *receiver) arrives(now Time, i *inPeer) {
	if r.latest[0].from != i {
		r.latest[1] = r.latest[0]
	}
	r.latest[0] = arrival{i, now}
}

// othersArrive reports whether anything came from another sender since i was first asked
// in vain.
func (r *receiver) othersArrive(i *inPeer) bool {
	last := r.latest[0]
	if last.from == i {
		last = r.latest[1]
	}
	return last.from != nil && last.at > i.firstProbe+r.round
}

// An arrival is when something last came from a sender.
type arrival struct {
	from *inPeer
	at   Time
}

// progress ends the suspension of a sender's credit, all of which is then out again, even
// if that is more than B.
func (r *receiver) progress(now Time, i *inPeer) {
	i.lastProgress, i.shownAt, i.probes = now, now, 0
	if i.suspended {
		i.suspended = false
		r.suspended--
		r.outstanding += i.credit()
	}
}

// suspend leaves a sender's credit out of account.
func (r *receiver) suspend(i *inPeer) {
	i.suspended = true
	r.suspended++
	r.silentSince = max(r.silentSince, i.firstProbe)
	r.outstanding -= i.credit()
	r.env.Sink.Count(&suspensions, 1)
}

// doubtful reports whether a sender may be dead: its credit is suspended, or another's is and this one has
// shown nothing since that was asked. If they died together it would take over the credit of the other.
func (r *receiver) doubtful(i *inPeer) bool {
	return i.suspended || r.suspended > 0 && i.shownAt <= r.silentSince
}

// reclaim voids all credit that a sender may still hold, and begins a new epoch
// of its totals.
func (r *receiver) reclaim(now Time, i *inPeer) {
	i.granted, i.spent, i.seen = 0, 0, 0
	i.epoch = (i.epoch + 1) & 15
	for i.wanted.Len() > 0 {
		w, _ := i.wanted.Pop()
		r.suspect(now, w.m, w.stretch)
		r.unlist(w.m)
	}
	r.env.Sink.Count(&reclaims, 1)
}
