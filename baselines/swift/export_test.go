package swift

import "sirdbed/baselines/flow"

// A Control is the control law of one connection.
type Control = control

// NewControl makes one for a path with the given number of switches.
func NewControl(p *Params, hops int) *Control { return newControl(p, hops) }

// FlowScaling returns a and b.
func (p *Params) FlowScaling() (a, b float64) { return p.flowScaling() }

// Target returns the target delay with a window.
func (c *Control) Target(window float64) flow.Time { return flow.Time(c.target(window)) }

// Set changes the window, Hops returns the number of switches on the path.
func (c *Control) Set(window float64) { c.window = window }
func (c *Control) Hops() int          { return c.hops }
