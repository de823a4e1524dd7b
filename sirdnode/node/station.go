//go:build linux

package node

import (
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/host"
	"sirdbed/topo/units"
)

// A station is a host at its NIC, and the times by which it goes.
type station struct {
	app  *host.Application
	host *host.Host // app's transport
	nic  *nic
	// Of Config, which says more.
	catchUp, grain units.Time

	last                units.Time // no event is earlier
	draining            bool       // sends nothing more
	lateness, generator clock.Lateness
}

// serve does what is due by now, in the order and as of the times in which it
// was due, as far back as CatchUp: the host's state machine and its NIC see time
// as if the process had woken up in time, and only what it sends is late.
func (s *station) serve(now units.Time) error {
	for idle := 0; idle < 2; {
		arrival, wake := s.arrival(now), units.Never
		if !s.draining {
			wake = s.host.NextWork()
		}
		due := min(arrival, wake)
		if due > now {
			break
		}
		s.late(due, now)
		at := max(due, s.last, now-s.catchUp)
		s.last = at
		if !s.draining {
			s.host.Advance(at)
		}
		idle++ // a wake-up for nothing does not repeat for ever
		if arrival <= at {
			idle = 0
			if p := s.nic.deliver(at, s.grain); p != nil {
				s.host.Receive(at, p)
			}
		}
		if s.draining {
			continue
		}
		sent, err := s.nic.transmit(at, now, s.host)
		if err != nil {
			return err
		}
		if sent > 0 {
			idle = 0
		}
	}
	return s.nic.flushSoon(now, s.host)
}

// looked returns the time after a look at the ring at now. Frames of since then are in it
// too, and one that is delivered at once must not be before it was sent.
func (s *station) looked(now units.Time) units.Time {
	if s.grain == 0 {
		return now
	}
	return max(now, s.nic.clock.Now())
}

// next returns when to wake up again if nothing arrives before.
func (s *station) next(now units.Time) units.Time {
	next := s.nic.due()
	if !s.draining {
		next = min(next, s.host.Wake())
	}
	if s.nic.socket.Unsent() > 0 {
		next = min(next, now+s.nic.packetTime())
	}
	// What serve has left undone is due later: a virtual clock stands still for whoever
	// asks again at once.
	return max(next, now+1)
}

// arrival is when the next frame arrives: now, where the machine cannot tell.
func (s *station) arrival(now units.Time) units.Time {
	at := s.nic.due()
	if at > now && at-now <= s.grain {
		return now
	}
	return at
}

// late counts how late something is that was due. A transport's wish to be
// called at once is not a time.
func (s *station) late(due, now units.Time) {
	if due <= s.last {
		return
	}
	s.lateness.Add(int64(now - due))
	if s.app.NextMessage() <= due {
		s.generator.Add(int64(now - due))
	}
}
