package swift

import (
	"math"

	"sirdbed/baselines/flow"
)

// control is the congestion window of one connection (Swift paper, section 3
// and algorithm 1; README, Window).
type control struct {
	params *Params
	hops   int     // switches on the path
	a, b   float64 // of flow scaling, ns

	window   float64   // segments
	rtt      flow.Time // the latest
	decrease flow.Time // when the window was last decreased
}

func newControl(p *Params, hops int) *control {
	a, b := p.flowScaling()
	return &control{params: p, hops: hops, a: a, b: b, window: p.InitialWindow, decrease: -1 << 62}
}

// flowScaling returns a and b of target = a/sqrt(window) + b, which is FSRange
// at FSMin and 0 at FSMax.
func (p *Params) flowScaling() (a, b float64) {
	a = float64(p.FSRange) / (1/math.Sqrt(p.FSMin) - 1/math.Sqrt(p.FSMax))
	return a, -a / math.Sqrt(p.FSMax)
}

// target returns the target delay at a window, in ns: longer for more hops, and
// for small windows, which mean that many flows share the queue (README, Target
// delay).
func (c *control) target(window float64) float64 {
	p := c.params
	scaled := min(max(c.a/math.Sqrt(window)+c.b, 0), float64(p.FSRange))
	return float64(p.BaseTarget) + float64(c.hops)*float64(p.PerHop) + scaled
}

// OnMessage resets the window to the initial one.
func (c *control) OnMessage(flow.Time) { c.window = c.params.InitialWindow }

// OnAck increases the window while the delay is below its target, by ai per
// window of segments, or decreases it in proportion to the excess, once per
// round trip.
func (c *control) OnAck(now flow.Time, a flow.Ack) {
	p := c.params
	c.rtt = a.RTT
	delay, target := float64(a.Delay), c.target(c.window)
	acked := float64(a.Segments)
	switch {
	case delay < target && c.window >= 1:
		c.set(c.window + p.AI*acked/c.window)
	case delay < target:
		c.set(c.window + p.AI*acked)
	case c.mayDecrease(now):
		c.reduce(now, max(1-p.Beta*(delay-target)/delay, 1-p.MaxMDF))
	}
}

func (c *control) mayDecrease(now flow.Time) bool { return now-c.decrease >= c.rtt }

func (c *control) reduce(now flow.Time, factor float64) {
	c.decrease = now
	c.set(c.window * factor)
}

func (c *control) set(window float64) {
	c.window = min(max(window, c.params.MinWindow), c.params.MaxWindow)
}

// OnLoss makes the largest decrease, also once per round trip.
func (c *control) OnLoss(now flow.Time) {
	if c.mayDecrease(now) {
		c.reduce(now, 1-c.params.MaxMDF)
	}
}

// OnTimeout makes the largest decrease, and falls back to the least window
// after RetxReset timeouts in a row.
func (c *control) OnTimeout(now flow.Time, n int) {
	factor := 1 - c.params.MaxMDF
	if n >= c.params.RetxReset {
		factor = 0
	}
	c.reduce(now, factor)
}

// Window implements flow.Controller.
func (c *control) Window() float64 { return c.window }

// Pacing implements flow.Controller: a window below one segment is one segment in
// more than a round trip.
func (c *control) Pacing() flow.Time {
	if c.window >= 1 {
		return 0
	}
	return flow.Time(float64(c.rtt) / c.window)
}
