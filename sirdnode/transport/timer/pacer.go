package timer

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A Pacer spaces packets at a rate in wire bytes. It counts in picoseconds, since
// a minimal packet at 400 Gbps lasts 1.68 ns. The zero value delays nothing.
type Pacer struct {
	Rate units.BitsPerSecond

	freePS int64 // when the next packet may go, in ps
}

// Ready reports whether the next packet may go.
func (p *Pacer) Ready(now transport.Time) bool { return int64(now)*1000 >= p.freePS }

// At returns when the next packet may go.
func (p *Pacer) At() transport.Time { return transport.Time((p.freePS + 999) / 1000) }

// Pause lets no packet go before until.
func (p *Pacer) Pause(until transport.Time) { p.freePS = max(p.freePS, int64(until)*1000) }

// Sent accounts for a packet that goes at now, once Ready has allowed it. If the
// caller was up to slack late with it, the packets after it are not delayed: the
// pacer keeps its rate, and lets at most slack's worth of packets go at once.
func (p *Pacer) Sent(now transport.Time, wire transport.Bytes, slack transport.Time) {
	if p.Rate == 0 {
		return
	}
	p.freePS = max(p.freePS, int64(now-slack)*1000) + p.Rate.Picoseconds(wire)
}
