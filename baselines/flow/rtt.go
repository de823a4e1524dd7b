package flow

// An RTT estimates the round-trip time and its variation from samples (RFC
// 6298, with a clock that needs no granularity term). The zero value has none.
type RTT struct {
	Smoothed  Time
	Variation Time
}

// Sample adds one.
func (r *RTT) Sample(rtt Time) {
	if r.Smoothed == 0 {
		r.Smoothed, r.Variation = rtt, rtt/2
		return
	}
	diff := r.Smoothed - rtt
	if diff < 0 {
		diff = -diff
	}
	r.Variation += (diff - r.Variation) / 4
	r.Smoothed += (rtt - r.Smoothed) / 8
}

// Timeout returns the retransmission timeout, at least least, after so many
// timeouts in a row: it doubles with each, up to maxBackoff times.
func (r *RTT) Timeout(least Time, inARow int) Time {
	return max(least, r.Smoothed+4*r.Variation) << min(inARow, maxBackoff)
}

const maxBackoff = 6
