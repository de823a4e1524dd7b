package flow

// An RTT estimates the round-trip time and its variation from samples (RFC
// 6298, without the term for clock granularity). The zero value has no samples.
type RTT struct {
	Smoothed  Time
	Variation Time
}

// Sample adds a sample.
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

// Timeout returns the retransmission timeout, no less than least, after inARow
// timeouts in a row: each doubles it, up to maxBackoff times.
func (r *RTT) Timeout(least Time, inARow int) Time {
	return max(least, r.Smoothed+4*r.Variation) << min(inARow, maxBackoff)
}

const maxBackoff = 6
