package dctcp

import "sirdbed/baselines/flow"

// A Control is the control law of one connection.
type Control = control

// NewControl makes one.
func NewControl(p *Params) *Control { return newControl(p) }

// State returns the window, the slow start threshold, and alpha.
func (c *Control) State() (window, threshold, alpha float64) { return c.window, c.threshold, c.alpha }

// Set changes them.
func (c *Control) Set(window, threshold, alpha float64) {
	c.window, c.threshold, c.alpha = window, threshold, alpha
}

// Controls returns those of the connections used so far.
func (d *DCTCP) Controls() []*Control { return d.controls }

var _ flow.Controller = (*Control)(nil)
