package dcpim

import (
	"math"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// sizes are what packets occupy on a link: 1500 and 40 bytes in the released
// simulator, while the frames of this testbed have Ethernet's framing, preamble
// and gap too.
type sizes struct{ data, control Bytes }

// A timing is how the hosts of a fabric divide time (README, Timing). Rounds
// are counted from time 0. The matching of epoch e is negotiated in the first r
// rounds from e*period on; then its data phase begins, which lasts for period
// rounds. With alpha 1 a matching takes as long as a data phase, and the two
// always overlap.
type timing struct {
	controlRTT Time // worst round trip of a control packet over the idle fabric
	half       Time // of a round
	rounds     int64
	period     int64 // rounds from one matching to the next
	packet     Time  // a full packet at the host's rate
	share      int   // packets that one channel carries in a data phase
	bdp        int   // bandwidth-delay product in packets

	tokenLife    Time // from the end of its data phase until a token expires
	resendAfter  Time // from the last token of a message to the first one again
	windowAfter  Time // from a token that filled the window to its being opened again
	retryAfter   Time // silence until a sender sends the RTS again
	abandonAfter Time // silence until a receiver forgets a message
}

// newTiming derives phases and timeouts from the topology, as the released
// simulator's LeafSpineTopology::set_up_parameter does:
//
//	round         beta x control RTT
//	matching      r rounds
//	data phase    alpha x matching
//	channel       data phase / packet time / k packets
func newTiming(f *topo.Fabric, rate units.BitsPerSecond, wire sizes, p *Params) timing {
	t := timing{
		controlRTT: roundTrip(f, wire.control),
		rounds:     int64(p.Rounds),
		period:     int64(math.Round(p.Alpha * float64(p.Rounds))),
		packet:     rate.TimeFor(wire.data),
		bdp:        int((p.BDP + wire.data - 1) / wire.data),
	}
	t.half = max(1, Time(math.Round(p.Beta*float64(t.controlRTT)/2)))
	phase := t.round() * Time(t.period)
	t.share = max(1, int(int64(phase)*1000/rate.Picoseconds(wire.data)/int64(p.Channels)))

	// The simulator adds half a control round trip and k packet times to the
	// end of the data phase; here the packet times are a parameter.
	bdpTime := float64(rate.Picoseconds(wire.data*Bytes(t.bdp))) / 1000
	t.tokenLife = t.controlRTT/2 + Time(p.TokenTimeout*float64(rate.Picoseconds(wire.data))/1000)
	t.resendAfter = Time(p.TokenResendTimeout * bdpTime)
	t.windowAfter = Time(p.TokenWindowTimeout * bdpTime)
	t.retryAfter = max(1, Time(p.RetryTimeout*float64(t.epoch())))
	// Longer than the sender takes to give up, so that no message that is still
	// alive there is forgotten here.
	for n, wait := 0, t.retryAfter; n <= p.MaxRetries; n++ {
		t.abandonAfter += 2 * wait
		wait = timer.Backoff(wait, t.retryAfter)
	}
	return t
}

func (t *timing) round() Time { return 2 * t.half }

// epoch is a matching and its data phase.
func (t *timing) epoch() Time { return t.round() * Time(t.rounds+t.period) }

// of returns a round's epoch, and its number within the epoch: less than r for
// a round of the matching.
func (t *timing) of(round int64) (epoch, n int64) { return round / t.period, round % t.period }

// expiry returns when a token of an epoch's data phase expires at its sender.
func (t *timing) expiry(epoch int64) Time {
	return Time(epoch*t.period+t.rounds+t.period)*t.round() + t.tokenLife
}

// roundTrip returns how long packets of the given wire length take there and
// back over the longest path of the idle fabric. It is exact if all host links
// are alike and all core links are alike, and otherwise an upper bound.
func roundTrip(f *topo.Fabric, wire Bytes) Time {
	var host, core int64
	for i := range f.Ports {
		p := &f.Ports[i]
		hop := int64(p.Delay)*1000 + p.Rate.Picoseconds(wire)
		if p.Core {
			core = max(core, hop)
		} else {
			host = max(host, hop)
		}
	}
	if f.Spec.Leaves == 1 {
		core = 0
	}
	return Time((2*(2*host+2*core) + 500) / 1000)
}

// bandwidthDelay returns the BDP in whole full packets, rounded up, of a full
// packet's round trip, as in the simulator.
func bandwidthDelay(f *topo.Fabric, frame Bytes) Bytes {
	bytes := f.Spec.HostRate.BytesIn(roundTrip(f, frame))
	return (bytes + frame - 1) / frame * frame
}

// advance handles the half rounds up to now.
func (s *DCPIM) advance(now Time) {
	due := int64(now / s.timing.half)
	if now < 0 || s.tick >= due {
		return
	}
	if !s.matching() {
		s.tick = due
		return
	}
	// After more than two epochs without a step, only the last ones matter.
	s.tick = max(s.tick, due-4*(s.timing.rounds+s.timing.period))
	for s.tick < due {
		s.tick++
		if s.tick%2 == 1 {
			s.grantAll(s.tick / 2)
		} else {
			s.beginRound(s.tick/2, s.tick == due)
		}
	}
}

// matching reports whether half rounds make any difference here.
func (s *DCPIM) matching() bool {
	r := &s.receiver
	return len(s.sender.requests) > 0 || len(r.grants) > 0 || len(r.wanting) > 0 || r.building.total > 0 || len(r.active.links) > 0
}

// nextStep returns when the next half round is to be handled.
func (s *DCPIM) nextStep() Time {
	if !s.matching() {
		return units.Never
	}
	return Time(s.tick+1) * s.timing.half
}

// roundOf returns the round of a packet, of which the header has 32 bits.
func (s *DCPIM) roundOf(h *header) int64 {
	now := max(0, s.tick) / 2
	return now + int64(int32(h.round-uint32(now)))
}

// shuffle puts a list into random order.
func shuffle[T any](env *transport.Env, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := env.Rand.IntN(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
