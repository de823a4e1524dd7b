package timer

import "sirdbed/sirdnode/transport"

// Sleep remembers that a transport is asleep: its Next found nothing to send, and nothing has happened since, so that
// only time can change that. The zero value is awake.
type Sleep struct {
	asleep bool
	wakeAt transport.Time
}

// Until puts the transport to sleep: Next has nothing to send before wakeAt (units.Never if time alone changes
// nothing).
func (s *Sleep) Until(wakeAt transport.Time) { s.asleep, s.wakeAt = true, wakeAt }

// End wakes the transport: something has happened that Next may act on.
func (s *Sleep) End() { s.asleep = false }

// WakeAt returns when Next is to be called again, 0 (at once) if the transport is awake. Transport.Wake returns
// that, or when its timers are due if that is earlier.
func (s *Sleep) WakeAt() transport.Time {
	if !s.asleep {
		return 0
	}
	return s.wakeAt
}
