package host

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Transport returns the host's protocol, for tests that look inside.
func (h *Host) Transport() transport.Transport { return h.proto }

// Offer hands the transport a message that is of no stream. The caller goes on
// as after Advance.
func (a *Application) Offer(now units.Time, dst topo.HostID, size units.Bytes, tag traffic.Tag) {
	a.offer(now, now, dst, size, tag)
}

// NextArrival returns when Advance or Sample has something to do next: a message of
// the streams, or gauges to read. The rest of Wake is the transport's and the NIC's.
func (a *Application) NextArrival() units.Time { return min(a.source.NextAt(), a.gaugeAt) }

// NextSample returns when Sample reads the gauges next, units.Never if there are none
// to read.
func (a *Application) NextSample() units.Time { return a.gaugeAt }

// NextMessage returns when the application sends its next message.
func (a *Application) NextMessage() units.Time { return a.source.NextAt() }

// NICFree returns when the NIC takes the next packet by the host's own pacing.
func (h *Host) NICFree() units.Time { return h.nic.At() }

// Counter returns what the transport has counted under a name so far.
func (a *Application) Counter(name string) int64 {
	for c, n := range a.named {
		if c.Name == name {
			return n
		}
	}
	return 0
}
