//go:build linux

package node

import (
	"sirdbed/sirdnode/fault"
	"sirdbed/topo/units"
)

// outages are the times in which the timeline of faults has the host do nothing. It stops
// and goes on as of the nominal time that is stated. A host that is killed stays a process:
// what ends is its transport with all that it knew, so that what it has logged and counted
// is complete.
type outages struct {
	list []fault.Outage // the present one, and those to come
	in   bool           // the first of them has begun
}

// next returns when the next one begins, or the present one ends.
func (o *outages) next() units.Time {
	switch {
	case len(o.list) == 0:
		return units.Never
	case o.in:
		return o.list[0].To
	}
	return o.list[0].From
}

// live does what is due by now, and has the host stop and go on in between.
func (n *node) live(now units.Time) error {
	for at := n.away.next(); at <= now && !n.draining; at = n.away.next() {
		if err := n.serveOrNot(at - 1); err != nil {
			return err
		}
		var err error
		if n.away.in {
			err = n.comeBack(at)
		} else {
			n.leave(at)
		}
		if err != nil {
			return err
		}
	}
	return n.serveOrNot(now)
}

// serveOrNot does what is due by now as the host is: nothing while it is paused, lose what
// arrives while it is dead.
func (n *node) serveOrNot(now units.Time) error {
	if now < 0 {
		return nil
	}
	if !n.away.in {
		return n.serve(now)
	}
	if n.away.list[0].Dead {
		n.nic.miss(now)
	}
	return n.nic.flush(now, n.host) // what had left the host goes on
}

// leave begins the outage that is next.
func (n *node) leave(at units.Time) {
	o := &n.away.list[0]
	n.away.in = true
	if o.Dead {
		n.host.Kill(at, o.To == units.Never)
	}
	n.nic.links.paused = !o.Dead
	n.last = max(n.last, at)
}

// comeBack ends the present one. Nothing that was due in it is late.
func (n *node) comeBack(at units.Time) error {
	dead := n.away.list[0].Dead
	n.away.list, n.away.in = n.away.list[1:], false
	n.nic.links.paused = false
	n.last = max(n.last, at)
	if dead {
		return n.host.Restart(at)
	}
	return nil
}

// wakeAt returns when to wake up again if nothing arrives before.
func (n *node) wakeAt(now units.Time) units.Time {
	next := n.away.next()
	switch {
	case n.draining:
		return n.next(now)
	case !n.away.in:
		return max(min(next, n.next(now)), now+1)
	case n.away.list[0].Dead:
		next = min(next, n.nic.due())
	}
	return max(min(next, n.app.NextSample()), now+1)
}

// endOutages is for a host that is to send nothing more: a paused one takes what has come.
func (n *node) endOutages() {
	if n.away.in && !n.away.list[0].Dead {
		n.away.in = false
		n.nic.links.paused = false
	}
	if !n.away.in {
		n.away.list = nil
	}
}
