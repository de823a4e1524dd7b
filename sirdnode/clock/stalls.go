//go:build linux

package clock

import "sirdbed/topo/units"

// Stalls adds up the time that something stood still and should not have: a loop
// that slept though a packet was due, a port that sent nothing though some waited.
// Only the part inside a window counts. A Stalls is not safe for concurrent use.
type Stalls struct {
	From, To units.Time // the window
	// Least is the longest delay that is no stall. Of one that is longer all counts.
	Least units.Time

	Total, Longest units.Time // in nominal ns; read only
}

// Add counts a delay, from when there was something to do until it was done.
// Delays must not overlap. What was not due by then is no delay: from may be units.Never.
func (s *Stalls) Add(from, to units.Time) {
	if to <= from || to-from <= s.Least {
		return
	}
	if lost := min(to, s.To) - max(from, s.From); lost > 0 {
		s.Total += lost
		s.Longest = max(s.Longest, lost)
	}
}
