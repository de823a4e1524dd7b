package dcpim

import (
	"math"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// sizes are the wire bytes of packets: 1500 and 40 in the released simulator; with
// Ethernet's framing, preamble and gap 1538 and 84 here.
type sizes struct{ data, control Bytes }

// A timing is how the hosts of a fabric divide time (README, Timing). Rounds are
// counted from time 0. The matching of epoch e takes the first r rounds from
// e*period on. Then its data phase begins, which lasts for period rounds. With
// alpha 1 a matching takes as long as a data phase, and there always is one of
// each.
type timing struct {
	controlRTT     Time // worst round trip of a control packet over the idle fabric
	half           Time // of a round
	rounds         int64
	period         int64 // rounds from one matching to the next
	packet         Time  // a full packet at the host's rate
	channelPackets int   // packets that one channel carries in a data phase
	bdp            int   // bandwidth-delay product in packets

	tokenSlack      Time // for which the uplink may be busy before a token
	tokenLife       Time // from the end of a token's data phase until it expires
	resendTimeout   Time // from a message's last token until what is missing gets new ones
	windowTimeout   Time // from the token that filled a window until it opens again
	announceTimeout Time // without an answer, until a sender sends an RTS again
	abandonTimeout  Time // without progress, until a receiver abandons a message
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
	t.half = halfRound(t.controlRTT, p)
	phase := t.round() * Time(t.period)
	t.channelPackets = max(1, int(int64(phase)*1000/rate.Picoseconds(wire.data)/int64(p.Channels)))

	// A token waits for the packet in transmission, other channels' tokens, and at the
	// start of a half round a control packet to each other host. The simulator's next
	// token is due a gap after this one was, not after it went.
	others := Bytes(len(f.Hosts) + p.Channels)
	t.tokenSlack = t.packet + rate.TimeFor(wire.control*others)

	// The simulator's tokens expire half a control round trip and k packet times
	// after the data phase; here the packet times are a parameter.
	bdpTime := float64(rate.Picoseconds(wire.data*Bytes(t.bdp))) / 1000
	t.tokenLife = t.controlRTT/2 + span(p.TokenTimeout*float64(rate.Picoseconds(wire.data))/1000)
	t.resendTimeout = span(p.TokenResendTimeout * bdpTime)
	t.windowTimeout = span(p.TokenWindowTimeout * bdpTime)
	t.announceTimeout = max(1, span(p.RetryTimeout*float64(t.epoch())))
	// Longer than the sender takes to give up, so that no message is abandoned
	// here that is still open there.
	for n, timeout := 0, t.announceTimeout; n <= p.MaxRetries; n++ {
		t.abandonTimeout += 2 * timeout
		timeout = timer.Backoff(timeout, t.announceTimeout)
	}
	return t
}

// halfRound is half of a round, of whole ns.
func halfRound(controlRTT Time, p *Params) Time {
	return max(1, Time(math.Round(p.Beta*float64(controlRTT)/2)))
}

// span is a timeout, no longer than any run: sums of backed-off ones stay far from
// overflow.
func span(ns float64) Time { return Time(min(ns, float64(limit.MaxRun))) }

func (t *timing) round() Time { return 2 * t.half }

// epoch is a matching and its data phase.
func (t *timing) epoch() Time { return t.round() * Time(t.rounds+t.period) }

// of returns a round's epoch, and its number within the epoch: less than r for
// a round of the matching.
func (t *timing) of(round int64) (epoch, n int64) { return round / t.period, round % t.period }

// expiry returns when the tokens of an epoch's data phase expire.
func (t *timing) expiry(epoch int64) Time {
	return Time(epoch*t.period+t.rounds+t.period)*t.round() + t.tokenLife
}

// roundTrip returns how long packets of the given wire length take there and
// back over the longest path of the idle fabric. It is exact if all host links
// are alike and all core links are alike, else an upper bound.
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

// bandwidthDelay returns the BDP of a full packet's round trip, rounded up to
// whole packets, in wire bytes, as in the simulator.
func bandwidthDelay(f *topo.Fabric, frame Bytes) Bytes {
	bytes := f.Spec.HostRate.BytesIn(roundTrip(f, frame))
	return (bytes + frame - 1) / frame * frame
}

// advance handles the half rounds up to now.
func (s *DCPIM) advance(now Time) {
	due := int64(now / s.timing.half)
	if now < 0 || s.halfRound >= due {
		return
	}
	if !s.matching() {
		s.halfRound = due
		return
	}
	// After more than two epochs without a call, only the last ones matter.
	s.halfRound = max(s.halfRound, due-4*(s.timing.rounds+s.timing.period))
	for s.halfRound < due {
		s.halfRound++
		if s.halfRound%2 == 1 {
			s.grantAll(s.halfRound / 2)
		} else {
			s.beginRound(s.halfRound/2, s.halfRound == due)
		}
	}
}

// halfRoundBegan returns when the half round being handled began.
func (s *DCPIM) halfRoundBegan() Time { return Time(s.halfRound) * s.timing.half }

// matching reports whether this host takes part in matchings.
func (s *DCPIM) matching() bool {
	r := &s.receiver
	return len(s.sender.requests) > 0 || len(r.grants) > 0 || len(r.activeSenders) > 0 ||
		r.building.total > 0 || len(r.active.links) > 0
}

// nextHalfRound returns when the next half round is to be handled.
func (s *DCPIM) nextHalfRound() Time {
	if !s.matching() {
		return units.Never
	}
	return Time(s.halfRound+1) * s.timing.half
}

// roundOf returns the round of a packet, of which the header has the low 32 bits.
func (s *DCPIM) roundOf(h *header) int64 {
	now := max(0, s.halfRound) / 2
	return now + int64(int32(h.round-uint32(now)))
}

// shuffle puts a list into random order.
func shuffle[T any](env *transport.Env, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := env.Rand.IntN(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
