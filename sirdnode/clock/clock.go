//go:build linux

// Package clock is a host process's view of time. It and whatever builds the
// fabric alone know how far the kernel's clock is stretched (see package emu).
//
// Three times are in play, all in ns:
//
//   - nominal time, units.Time: that of scenarios, protocols and logs. 0 is the
//     start of the run.
//   - kernel time, int64: CLOCK_MONOTONIC, what the kernel's timers obey.
//   - realtime, int64: CLOCK_REALTIME, in which packet sockets stamp frames.
//
// A Clock maps nominal to kernel time and back, a Realtime realtime to kernel
// time. A Lateness collects how late a host was.
package clock

import (
	"fmt"

	"sirdbed/topo/units"
)

// A Clock maps nominal time to the kernel's monotonic clock: nominal 0 is its
// origin, and one nominal ns lasts as many monotonic ns as the dilation says.
//
//   - Now is the last whole nominal ns that has begun: ToNominal rounds down;
//   - whoever waits until ToKernel(t) finds that Now is t: ToKernel is exact, and
//     ToNominal(ToKernel(t)) == t;
//   - both never decrease.
//
// A Clock is immutable and safe for concurrent use.
type Clock struct {
	origin   int64
	dilation units.Dilation
}

// New returns a clock whose nominal 0 is at the monotonic time origin (not
// negative), stretched by a dilation from 1 to units.MaxDilation.
func New(origin int64, dilation units.Dilation) (*Clock, error) {
	if origin < 0 {
		return nil, fmt.Errorf("clock origin %d is before the machine's start", origin)
	}
	if dilation < 1 || dilation > units.MaxDilation {
		return nil, fmt.Errorf("dilation %d: want 1 to %d", dilation, units.MaxDilation)
	}
	return &Clock{origin: origin, dilation: dilation}, nil
}

// Origin returns the monotonic time of nominal 0.
func (c *Clock) Origin() int64 { return c.origin }

// Now returns the nominal time. It never decreases.
func (c *Clock) Now() units.Time { return c.ToNominal(Monotonic()) }

// ToNominal returns the nominal time at a monotonic time, rounded down;
// negative before the origin. Forever is units.Never.
func (c *Clock) ToNominal(monotonic int64) units.Time {
	if monotonic == Forever {
		return units.Never
	}
	return c.dilation.ToNominal(monotonic - c.origin)
}

// ToKernel returns the first monotonic time at which nominal time is t. It is
// Forever for units.Never and for times out of the kernel's range, and 0 for
// those before the machine's start.
func (c *Clock) ToKernel(t units.Time) int64 {
	span := c.dilation.ToKernel(t)
	if span > Forever-c.origin {
		return Forever
	}
	return max(c.origin+span, 0)
}

// Span returns how many monotonic ns a nominal span lasts, at most Forever.
func (c *Clock) Span(t units.Time) int64 { return c.dilation.ToKernel(t) }

// SpanOf returns how many whole nominal ns pass in a monotonic span.
func (c *Clock) SpanOf(monotonic int64) units.Time { return c.dilation.ToNominal(monotonic) }

// WaitUntil blocks the calling thread until Now has reached t; see SleepUntil.
// A caller that also waits for packets uses ring.Socket.Wait instead.
func (c *Clock) WaitUntil(t units.Time) error { return SleepUntil(c.ToKernel(t)) }
