package dctcp

import "sirdbed/baselines/flow"

// control is the congestion window of one connection (DCTCP paper, section 3.1;
// RFC 8257, section 3.3; README, Window).
type control struct {
	params *Params

	window    float64 // segments
	threshold float64 // below it, slow start
	alpha     float64 // estimated share of marked segments

	acked, marked int    // segments in this window of data
	end           uint64 // number of the transmission that ends this window of data
	cutEnd        uint64 // number of the transmission up to which there is no second cut
	burst         bool   // the last acknowledgement was marked
}

// Lower bounds of the window and of the slow start threshold, in segments.
const (
	leastWindow    = 1
	leastThreshold = 2
)

func newControl(p *Params) *control {
	return &control{params: p, window: p.InitialWindow, threshold: p.MaxWindow, alpha: p.InitialAlpha}
}

// OnMessage resets the window to the initial one. Alpha and the threshold, which
// the connection has learned from the network, stay.
func (c *control) OnMessage(flow.Time) { c.window = c.params.InitialWindow }

// OnAck implements flow.Controller.
func (c *control) OnAck(_ flow.Time, a flow.Ack) {
	c.acked += a.Segments
	if a.Marked {
		c.marked += a.Segments
	}
	if a.Highest > c.end {
		c.alpha += c.params.Gain * (float64(c.marked)/float64(c.acked) - c.alpha)
		c.acked, c.marked, c.end = 0, 0, a.Next
	}
	if a.Marked && a.Highest > c.cutEnd {
		c.cutEnd = a.Next
		c.cut(c.window * (1 - c.alpha/2))
	}
	if c.mayGrow(a) {
		c.grow(float64(a.Segments))
	}
	c.burst = a.Marked
}

// mayGrow reports whether an acknowledgement opens the window. As released all do
// but the first marked one of a burst, also while the sender is limited by its own
// link and not by the window. In Linux none does that is marked, and others only if
// the window is used up, or half used up in slow start.
func (c *control) mayGrow(a flow.Ack) bool {
	if a.Recovering {
		return false
	}
	if c.params.Growth != "limited" {
		return !a.Marked || c.burst
	}
	used := a.InFlight
	if c.window < c.threshold {
		used *= 2
	}
	return !a.Marked && used >= int(c.window)
}

// grow increases the window for acknowledged segments: by their number in slow
// start, by one segment per window after it.
func (c *control) grow(segments float64) {
	if c.window < c.threshold {
		c.window = min(c.window+segments, c.threshold)
	} else {
		c.window += segments / c.window
	}
	c.window = min(c.window, c.params.MaxWindow)
}

func (c *control) cut(window float64) {
	c.window = max(window, leastWindow)
	c.threshold = max(window, leastThreshold)
}

// OnLoss halves the window.
func (c *control) OnLoss(flow.Time) { c.cut(c.window / 2) }

// OnTimeout falls back to one segment.
func (c *control) OnTimeout(flow.Time, int) {
	c.cut(c.window / 2)
	c.window = leastWindow
}

// Window implements flow.Controller.
func (c *control) Window() float64 { return c.window }

// Pacing implements flow.Controller: DCTCP does not pace.
func (c *control) Pacing() flow.Time { return 0 }
