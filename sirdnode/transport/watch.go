package transport

import "sirdbed/topo/units"

// A Lookout is a look around at intervals for messages that have fallen silent,
// as long as there is something to look for.
type Lookout struct {
	Every Time

	set bool
	at  Time
}

// Watch makes sure that there will be a look, at most Every from now.
func (l *Lookout) Watch(now Time) {
	if !l.set {
		l.set, l.at = true, now+l.Every
	}
}

// Due reports that it is time for a look, which is then over: whoever looks
// calls Watch again if there is still something to look for.
func (l *Lookout) Due(now Time) bool {
	if !l.set || l.at > now {
		return false
	}
	l.set = false
	return true
}

// At returns when the next look is due, units.Never if none is.
func (l *Lookout) At() Time {
	if !l.set {
		return units.Never
	}
	return l.at
}

// mostBackoff is how many times the first wait a wait grows to.
const mostBackoff = 16

// Backoff returns the wait after one that was in vain: twice as long, up to 16
// times the first.
func Backoff(wait, first Time) Time { return min(2*wait, mostBackoff*first) }
