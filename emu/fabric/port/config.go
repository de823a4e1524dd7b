//go:build linux

// Package port is a switch port made of Linux traffic control: one qdisc tree
// per egress that shapes to the link's wire rate, serves strict priorities,
// limits and marks its queues, and can be read while it runs.
//
//	1:      htb
//	  1:1     the link's rate
//	    1:2     levels                          red, where it marks, and under it prio
//	      2:1     the most urgent                 bfifo
//	      2:2     the next                        bfifo
//	      ...
//	    1:20    credits, at their share         pfifo of 8 packets
//
// Without a credit class there is no 1:1, and 1:2 has the link's rate. A port of
// one level has no prio. On a kernel without sch_prio, levels are classes:
//
//	1:10    level 0, the least urgent       bfifo
//	...
//	1:17    level 7                         bfifo
//
// which is strict but for HTB's loan: every class has a guaranteed rate, a byte a
// second here, and so its first packet, and one a minute after that, goes out of
// turn. There is no place for a red that sees all of them: such ports are marked by
// eBPF.
//
// Rates and times here are the kernel's: nominal rates over the dilation. The
// package only writes requests and reads dumps; whoever calls it owns the
// socket and the namespace.
package port

import (
	"fmt"
	"math"

	"sirdbed/emu"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Ethernet on the wire besides the frame that the kernel counts (skb->len, with
// its header): frame check sequence, preamble and gap. No packet takes less than
// the minimum.
const (
	wireOverhead = topo.WireOverhead - wire.EthernetLen
	wireMinimum  = topo.MinWire
)

// MaxPriorities is how many strict levels a port can have: the values of the IP
// precedence.
const MaxPriorities = 8

// MaxLimit is the largest limit of a queue, which a run does not reach: the
// kernel keeps limits and backlogs in 32 bits.
const MaxLimit units.Bytes = 1<<32 - 1

// tinyRate, in bytes a second, is the guaranteed rate of a level: HTB's
// priorities are strict only among classes that borrow.
const tinyRate = 1

// Config describes a port. Only Rate is mandatory.
type Config struct {
	// Rate is the wire rate by the kernel's clock: the nominal rate over the
	// dilation. At least 8 bit/s.
	Rate units.BitsPerSecond
	// Priorities is the number of strict levels, 1 to 8; 0 means 1. A packet of
	// IP precedence p is of level min(p, Priorities-1); higher levels go first.
	Priorities int
	// Levels is what serves them: HTB's classes unless it is emu.PrioBands.
	Levels emu.Levels
	// Limit is what each level's queue has room for, in bytes of frames, up to
	// MaxLimit; 0 means MaxLimit.
	Limit units.Bytes
	// Mark is the step for ECN: a packet that finds at least as many bytes
	// waiting in all levels is marked, if it may be. 0: no marking.
	Mark units.Bytes
	// Marker is what marks: RED unless it is emu.EBPF, which needs nothing in the
	// qdisc tree. RED does not mark several levels that HTB serves.
	Marker emu.Marker
	// Credit limits the packets with wire.CreditTOS set; its zero value does not.
	Credit Credit
	// Burst is what may leave unspaced after an idle time, in wire bytes; 0
	// means 1, which spaces exactly as far as the kernel's timers do.
	Burst units.Bytes
	// MTU is the largest IP packet; 0 means 1500.
	MTU units.Bytes
}

// Credit is the class of ExpressPass's credits: a small queue served at a small
// share of the link, whose overflow is the protocol's signal.
type Credit struct {
	Share   float64 // of the link's rate, above 0, at most 1; 0: no class
	Packets int     // the queue's limit; 0: transport.DefaultCreditQueue
}

// defaulted returns c with its defaults filled in, or what is wrong with it.
func (c Config) defaulted() (Config, error) {
	if c.Rate < 8 {
		return c, fmt.Errorf("port: rate %d bit/s: want at least 8, by the kernel's clock", int64(c.Rate))
	}
	if c.Priorities == 0 {
		c.Priorities = 1
	}
	if c.Priorities < 1 || c.Priorities > MaxPriorities {
		return c, fmt.Errorf("port: %d priorities: want 1 to %d", c.Priorities, MaxPriorities)
	}
	if c.Limit == 0 {
		c.Limit = MaxLimit
	}
	if c.Limit < 0 || c.Limit > MaxLimit {
		return c, fmt.Errorf("port: queue limit of %d bytes: want up to %d", c.Limit, MaxLimit)
	}
	if c.Mark < 0 || c.Mark >= 1<<31 {
		return c, fmt.Errorf("port: marking step at %d bytes: want 0 to %d", c.Mark, 1<<31-1)
	}
	if c.Credit.Share < 0 || c.Credit.Share > 1 {
		return c, fmt.Errorf("port: credit class with %g of the link: want 0 to 1", c.Credit.Share)
	}
	if c.Credit.Packets == 0 {
		c.Credit.Packets = transport.DefaultCreditQueue
	}
	if c.Credit.Packets < 0 || c.Burst < 0 || c.MTU < 0 {
		return c, fmt.Errorf("port: negative credit queue, burst or MTU: %+v", c)
	}
	if c.Burst == 0 {
		c.Burst = 1
	}
	if c.MTU == 0 {
		c.MTU = 1500
	}
	if c.Priorities == 1 {
		c.Levels = emu.HTBClasses // nothing to choose from
	}
	if c.red() && c.Priorities > 1 && c.Levels != emu.PrioBands {
		return c, fmt.Errorf("port: RED sees all of %d levels only under sch_prio: want that, or eBPF to mark",
			c.Priorities)
	}
	return c, nil
}

// MaxBurst returns the wire bytes that the port can send ahead of its rate: the
// burst, the packet that the last token lets out, and one packet of each
// class that shares the link, since HTB lends every one its tiny guaranteed rate
// once a minute outside the link's.
func (c Config) MaxBurst() units.Bytes {
	c, err := c.defaulted()
	if err != nil {
		return 0
	}
	frame := c.MTU + wire.EthernetLen + wireOverhead
	classes := units.Bytes(1)
	if c.shared() {
		classes += units.Bytes(c.classes())
	}
	burst := c.Burst + classes*frame
	if c.Credit.Share > 0 {
		burst += transport.CreditBurst * wireMinimum
	}
	return burst
}

// red reports whether RED marks.
func (c *Config) red() bool { return c.Mark > 0 && c.Marker != emu.EBPF }

// shared reports whether several classes share the link.
func (c *Config) shared() bool { return c.classes() > 1 || c.Credit.Share > 0 }

// classes is how many classes of HTB the levels are.
func (c *Config) classes() int {
	if c.Levels == emu.PrioBands {
		return 1
	}
	return c.Priorities
}

// RateError is by how much the port is faster (or slower, below 0) than a rate in
// bit/s, for frames that take wire bytes: the kernel takes whole bytes a second,
// and spaces frames by whole ns, rounded down (psched_l2t_ns).
func (c *Config) RateError(rate float64, wire units.Bytes) float64 {
	spacing := math.Floor(float64(wire) * 1e9 / float64(c.bytesPerSecond()))
	return float64(wire)*8e9/rate/max(1, spacing) - 1
}

// bytesPerSecond is the link's rate as the kernel takes it.
func (c *Config) bytesPerSecond() uint64 { return uint64(c.Rate) / 8 }
