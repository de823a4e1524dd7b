// Package timer holds the timers of protocols, which have no clock: a Pacer says
// when the next packet may go, a Watch when it is time to look for what has made
// no progress, Backoff how long to wait after that. Nothing in it is safe for
// concurrent use.
package timer

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A Watch is a check at intervals for messages that make no progress, for as long as
// there is something to check.
type Watch struct {
	Every transport.Time

	set bool
	at  transport.Time
}

// Arm makes sure that there will be a check, at most Every from now.
func (w *Watch) Arm(now transport.Time) {
	if !w.set {
		w.set, w.at = true, now+w.Every
	}
}

// Due reports that it is time for a check, and disarms the watch: the caller arms it
// again if there is still something to check.
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

// mostBackoff is how many times the first wait a wait grows to.
const mostBackoff = 16

// Backoff returns the wait after one that was in vain: twice as long, up to 16
// times the first.
func Backoff(wait, first transport.Time) transport.Time { return min(2*wait, mostBackoff*first) }
