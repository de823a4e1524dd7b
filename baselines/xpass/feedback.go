package xpass

import "sirdbed/topo/units"

// A feedback is the loop that sets the credit rate of one connection: the
// released simulator's credit_feedback_control (xpass.cc) term for term,
// started as in SIRD's port of it (README, Feedback). Rates are in wire bytes
// of credit per second.
type feedback struct {
	rate        float64
	w           float64 // aggressiveness: how far an increase goes towards the highest rate
	uncongested bool    // the last update saw no congestion: the next may raise w

	rtt  float64 // smoothed, ns; 0: not known yet
	last Time    // when rate was last set

	// Since the last update: credits whose fate is known, and those of them for
	// which no data came back.
	total, lost int64
}

// reset forgets what is known of the credits of the message before. The round trip
// that the connection has measured is kept (README, Feedback).
func (f *feedback) reset() { f.total, f.lost, f.uncongested = 0, 0, false }

// start begins the credits of a message of n packets, or begins them again.
func (f *feedback) start(now Time, p *Params, highest float64, n uint32) {
	f.w = p.WInit
	f.rate = p.Alpha * highest
	if short := uint32(p.ShortMessage); n < short {
		f.rate *= float64(n) / float64(short)
	}
	f.last = now
}

// returned counts a data packet that came back: before its credit lost others were
// lost, and the credit was sent rtt ns ago.
func (f *feedback) returned(p *Params, lost int64, rtt float64) {
	f.total += lost + 1
	f.lost += lost
	if f.rtt > 0 {
		f.rtt = (1-p.RTTGain)*f.rtt + p.RTTGain*rtt
	} else {
		f.rtt = rtt
	}
}

// update recomputes the rate, at most once per round trip and only if the fate of
// more credits is known. highest is the highest rate, size the mean size of a
// credit. It reports whether the rate was recomputed.
func (f *feedback) update(now Time, p *Params, highest, size float64) bool {
	dt := float64(now - f.last)
	if f.rtt <= 0 || dt < f.rtt || f.total == 0 {
		return false
	}
	loss := float64(f.lost) / float64(f.total)
	target := (1 - f.rate/highest) * p.TargetLoss
	least := size / f.rtt * float64(units.Second)
	if loss > target {
		rate := least
		if loss < 1 {
			rate = size * float64(f.total-f.lost) / dt * float64(units.Second) * (1 + target)
		}
		f.rate = min(f.rate, rate)
		f.w = max(f.w/2, p.WMin)
		f.uncongested = false
	} else {
		if f.uncongested {
			f.w = p.raised(f.w)
		}
		f.uncongested = true
		f.rate = f.w*highest + (1-f.w)*f.rate
	}
	f.rate = max(min(f.rate, highest), least)
	f.total, f.lost, f.last = 0, 0, now
	return true
}

// raised returns w after one more update without congestion.
func (p *Params) raised(w float64) float64 {
	if p.WIncrease == "half" {
		return (w + p.WMax) / 2
	}
	return min(w+p.WStep, p.WMax)
}
