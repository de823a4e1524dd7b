package sird

import "sirdbed/sirdnode/transport"

// Links of different rates (README, Rates). The BDP is that of the fastest link. A sender
// whose own link is slower can use less credit, and what it holds beyond that is missing
// elsewhere: it is a congested sender (paper, section 2.1), of which the receiver knows.

// bdpOf returns a host's share of the BDP: by its rate, but enough for the credit loop between
// it and this host at that rate, and for a packet more.
func (e *endpoint) bdpOf(h transport.HostID) Bytes {
	f := e.env.Fabric
	rate := f.Uplink(h).Rate
	if rate >= e.fastest {
		return e.params.BDP
	}
	share := Bytes(float64(e.params.BDP) * float64(rate) / float64(e.fastest))
	if h != e.env.Self {
		share = max(share, rate.BytesIn(f.CreditLoop(h, e.env.Self)))
	}
	return min(e.params.BDP, share+e.frame)
}
