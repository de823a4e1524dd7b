package timer

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A Pacer lets wire bytes out at a rate. It counts in picoseconds, since a
// minimal packet at 400 Gbps lasts 1.68 ns. The zero value never holds anything
// back.
type Pacer struct {
	Rate units.BitsPerSecond

	freePS int64 // when the last packet is through
}

// Ready reports whether the next packet may go.
func (p *Pacer) Ready(now transport.Time) bool { return int64(now)*1000 >= p.freePS }

// At returns when the next packet may go.
func (p *Pacer) At() transport.Time { return transport.Time((p.freePS + 999) / 1000) }

// Block lets nothing out before until.
func (p *Pacer) Block(until transport.Time) { p.freePS = max(p.freePS, int64(until)*1000) }

// Sent accounts for a packet that went at now, after Ready said so. A packet
// that could have gone up to slack earlier, had its caller been on time, does
// not delay those behind it: with slack the pacer keeps its rate when it is
// called late, and lets at most slack's worth of packets out at once.
func (p *Pacer) Sent(now transport.Time, wire transport.Bytes, slack transport.Time) {
	if p.Rate == 0 {
		return
	}
	p.freePS = max(p.freePS, int64(now-slack)*1000) + p.Rate.Picoseconds(wire)
}
