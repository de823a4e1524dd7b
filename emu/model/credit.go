package model

import (
	"math"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A creditClass is the rate-limited class of a port: a short queue behind a
// token bucket. The bucket is kept as the time at which it would be full again
// (the virtual scheduling form), which is exact in integers.
type creditClass struct {
	on    bool
	queue fifo
	count int
	limit int
	share float64 // of the link's rate
	rate  units.BitsPerSecond
	burst int64 // ps that a full bucket lasts
	full  int64 // ps at which the bucket is full again
}

func newCreditClass(n transport.Network, link units.BitsPerSecond) creditClass {
	if !n.CreditClass {
		return creditClass{}
	}
	c := creditClass{on: true, limit: n.CreditQueue, share: n.CreditShare}
	if c.limit <= 0 {
		c.limit = transport.DefaultCreditQueue
	}
	c.setLink(link)
	return c
}

// setLink has the class take its share of a link's rate.
func (c *creditClass) setLink(rate units.BitsPerSecond) {
	c.rate = units.BitsPerSecond(math.Round(c.share * float64(rate)))
	c.rate = max(1, min(c.rate, rate))
	c.burst = c.rate.Picoseconds(transport.CreditBurst * topo.MinWire)
}

// ready returns when the bucket lets p go.
func (c *creditClass) ready(p *packet) int64 {
	return c.full + c.rate.Picoseconds(units.Bytes(p.wire())) - c.burst
}

// spend takes p's tokens.
func (c *creditClass) spend(p *packet, now int64) {
	c.full = max(c.full, now) + c.rate.Picoseconds(units.Bytes(p.wire()))
}
