// Package timer has the timers of protocols, which have no clock of their own: a
// Pacer spaces packets, a Watch is a periodic check for lost packets, Backoff
// lengthens a timeout, and Sleep remembers that there is nothing to send. Nothing
// in it is safe for concurrent use.
package timer

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A Watch is a periodic check for messages without progress, which runs for as
// long as there is something to check.
type Watch struct {
	Every transport.Time

	set bool
	at  transport.Time
}

// Arm makes sure that there will be a check, no later than Every from now.
func (w *Watch) Arm(now transport.Time) {
	if !w.set {
		w.set, w.at = true, now+w.Every
	}
}

// Due reports whether it is time for a check. If so it disarms the watch: the
// caller arms it again if there is still something to check.
func (w *Watch) Due(now transport.Time) bool {
	if !w.set || w.at > now {
		return false
	}
	w.set = false
	return true
}

// At returns when the next check is due, units.Never if none is.
func (w *Watch) At() transport.Time {
	if !w.set {
		return units.Never
	}
	return w.at
}

// maxBackoff is the longest timeout, in multiples of the first.
const maxBackoff = 16

// Backoff returns the timeout that follows one without an answer: twice as long,
// up to 16 times the first.
func Backoff(timeout, first transport.Time) transport.Time { return min(2*timeout, maxBackoff*first) }
