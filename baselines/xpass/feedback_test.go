package xpass_test

import (
	"math"
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/topo/units"
)

// The control law, one update each, worked out by hand from the released
// credit_feedback_control (README, Feedback): the highest rate is 1000 bytes/s,
// credits have 10 bytes, the round trip is 100 ms, so the least rate is 100
// bytes/s.
func TestFeedbackLaw(t *testing.T) {
	const ms = units.Millisecond
	for _, c := range []struct {
		name        string
		rate, w     float64
		clean       bool
		total, lost int64
		after       units.Time
		wantRate    float64
		wantW       float64
		updated     bool
	}{
		{"clean: towards the highest by w", 200, 0.25, false, 8, 0, 100 * ms, 0.25*1000 + 0.75*200, 0.25, true},
		{"clean twice: w grows first", 200, 0.25, true, 8, 0, 100 * ms, 0.3*1000 + 0.7*200, 0.3, true},
		{"w stops at 1/2", 200, 0.48, true, 8, 0, 100 * ms, 0.5*1000 + 0.5*200, 0.5, true},
		{"loss at the target is none: (1-0.2)/8 = 0.1", 200, 0.25, false, 10, 1, 100 * ms, 400, 0.25, true},
		{"above it: what came through, plus the target", 500, 0.25, true, 32, 3, 1000 * ms, 10 * 29 * 1.0625, 0.125,
			true},
		{"never above the old rate", 500, 0.25, true, 160, 20, 1000 * ms, 500, 0.125, true},
		{"w stops at 1/100", 500, 0.015, true, 32, 16, 1000 * ms, 170, 0.01, true},
		{"all lost: one credit per round trip", 500, 0.25, true, 8, 8, 100 * ms, 100, 0.125, true},
		{"at least one per round trip", 500, 0.25, true, 8, 7, 1000 * ms, 100, 0.125, true},
		{"at the highest no loss is fine", 1000, 0.5, true, 100, 1, 1000 * ms, 990, 0.25, true},
		{"at the highest, clean", 1000, 0.5, true, 100, 0, 1000 * ms, 1000, 0.5, true},
		{"not within a round trip", 200, 0.25, false, 8, 0, 99 * ms, 200, 0.25, false},
		{"not without news", 200, 0.25, false, 0, 0, 500 * ms, 200, 0.25, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := params(rack(t, 2), nil)
			var f xpass.Feedback
			f.Start(0, p, 1000, 1000)
			f.Returned(p, 0, float64(100*ms))
			f.Set(c.rate, c.w, c.clean)
			f.Count(c.total, c.lost)
			updated := f.Update(c.after, p, 1000, 10)
			rate, w, _ := f.State()
			if updated != c.updated || math.Abs(rate-c.wantRate) > 1e-9 || math.Abs(w-c.wantW) > 1e-9 {
				t.Errorf("rate %g, w %g, %v; want %g, %g, %v", rate, w, updated, c.wantRate, c.wantW, c.updated)
			}
		})
	}
}

// With the ExpressPass paper's rule w goes half of the way to w_max (README,
// Feedback).
func TestIncreaseHalfOfTheWay(t *testing.T) {
	p := params(rack(t, 2), func(p *xpass.Params) { p.WIncrease = "half" })
	var f xpass.Feedback
	f.Start(0, p, 1000, 1000)
	f.Returned(p, 0, 1e8)
	f.Set(200, 0.1, true)
	for i, want := range []float64{0.3, 0.4, 0.45} {
		f.Count(8, 0)
		f.Update(units.Time(i+1)*100*units.Millisecond, p, 1000, 10)
		if _, w, _ := f.State(); math.Abs(w-want) > 1e-9 {
			t.Errorf("update %d: w %g, want %g", i+1, w, want)
		}
	}
}

// A message starts at alpha of the highest rate with w = 1/16; one of n < 40
// packets at n/40 of that, as in SIRD's port (README, Feedback).
func TestStartRate(t *testing.T) {
	p := params(rack(t, 2), nil)
	for n, want := range map[uint32]float64{1: 1. / 640, 10: 1. / 64, 39: 39. / 640, 40: 1. / 16, 41: 1. / 16,
		1e6: 1. / 16} {
		var f xpass.Feedback
		f.Set(1, 0.5, true)
		f.Start(0, p, 1, n)
		if rate, w, _ := f.State(); math.Abs(rate-want) > 1e-12 || w != 1./16 {
			t.Errorf("%d packets: rate %g, w %g; want %g, 1/16", n, rate, w, want)
		}
	}
}

// The round trip is an EWMA of 0.8 and 0.2 that begins with the first sample; a
// gap in the sequence counts as lost (README, Feedback).
func TestRoundTripAndGaps(t *testing.T) {
	p := params(rack(t, 2), nil)
	var f xpass.Feedback
	for i, want := range []float64{100, 0.8*100 + 0.2*200, 0.8*120 + 0.2*200} {
		f.Returned(p, int64(i), []float64{100, 200, 200}[i])
		if _, _, rtt := f.State(); math.Abs(rtt-want) > 1e-9 {
			t.Errorf("sample %d: %g, want %g", i, rtt, want)
		}
	}
	if total, lost := f.Counts(); total != 6 || lost != 3 {
		t.Errorf("%d credits, %d lost", total, lost)
	}
}
