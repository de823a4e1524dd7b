package sird

// A prefix is the unscheduled bytes of a message, as they are charged. All of them have
// arrived when the downlink has had time for them, for those charged before, and for those
// charged soon after, which mix with them; or when nothing unscheduled arrives any more.
// What is charged still was lost, or waits at its sender: other credit need not.
type prefix struct {
	m     *inMessage
	due   Time
	known bool // what it may have mixed with
}

// prefixSlack is how much longer than the downlink takes for it a prefix may take, in
// rounds.
const prefixSlack = 2

// expectPrefix has the charge of m's prefix end in time.
func (r *receiver) expectPrefix(now Time, m *inMessage) {
	downlink := r.env.Fabric.Downlink(r.env.Self).Rate
	r.drainPS = max(r.drainPS, int64(now)*1000) + downlink.Picoseconds(m.charged)
	r.prefixes.Push(prefix{m: m.list(), due: now + r.round})
	r.flowing = now
}

// expirePrefixes ends the charge of prefixes that must have arrived, and asks their
// senders how far they are.
func (r *receiver) expirePrefixes(now Time) {
	for r.prefixes.Len() > 0 && r.prefixesDue() <= now {
		front := r.prefixes.Front()
		if !front.known && front.m.charged > 0 && now < r.flowing+r.idle() {
			front.known, front.due = true, max(now, Time(r.drainPS/1000))+prefixSlack*r.round
			continue
		}
		m := front.m
		r.prefixes.Pop()
		if m.charged > 0 {
			r.release(m, m.charged)
			r.ask(now, m)
			r.place(m.from)
		}
		r.unlist(m)
	}
}

// prefixesDue is when the oldest charge is to be looked at.
func (r *receiver) prefixesDue() Time { return min(r.prefixes.Front().due, r.flowing+r.idle()) }

// idle is how long nothing unscheduled arrives until nothing is expected any more.
func (r *receiver) idle() Time { return r.patience / patience }
