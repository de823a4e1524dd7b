package results

import (
	"fmt"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The rule for "unstable" (scenarios/README, Unstable). A network is unstable where
// it carries less than is offered: its backlog then grows without end. In a window
// of some ms that cannot be seen in the backlog, which one message of 15 MB can
// double, nor in goodput, which follows what happened to arrive. But it can be seen
// against a reference with the same messages: a run is unstable if it leaves more
// undelivered than links would whose rates are what is offered on average, less a
// margin.
const (
	// marginShare and marginBytes are the margin: a share of what is offered, and
	// what a protocol may leave undelivered on each link by its own delays, as a
	// share of what the link carries in the run. The megabyte and a quarter are a
	// tenth of a ms at 100 Gbps, and 5 % of a run of 2 ms.
	marginShare = 0.01
	marginBytes = 1_250_000
	// backlogPart is the part of the run, its last, over which backlogs are
	// averaged.
	backlogPart = 10
)

// Stability is what the rule says of a run, with the figures behind it. It applies
// only to scenarios with a Poisson stream.
type Stability struct {
	Applies  bool     `json:"applies"`
	Unstable bool     `json:"unstable"`
	Reasons  []string `json:"reasons,omitempty"`
	Known    bool     `json:"known"` // gauges were sampled until the end

	Offered     float64 `json:"offered_share"`     // payload offered to the busiest link over its rate, by the streams
	Undelivered float64 `json:"undelivered_bytes"` // payload, mean over the last tenth until the window's end
	Reference   float64 `json:"reference_bytes"`   // the same in the reference
	// Carried is the share of their rates with which links would have left as much
	// undelivered: what can be carried of payload. Worked out for unstable runs.
	Carried float64 `json:"carried_share,omitempty"`
}

func (l *rawLogs) stability(list []Message, framing *topo.Framing, from, to units.Time) Stability {
	var s Stability
	s.Applies = to > from && slices.ContainsFunc(l.x.Streams,
		func(st traffic.Stream) bool { return st.Pattern == traffic.PatternPoisson })
	if !s.Applies {
		return s
	}
	offered, err := offeredShare(l.fabric, l.x.Streams, to)
	if err != nil {
		l.problem(Note, "whether the run was stable is not known: %v", err)
		return s
	}
	s.Offered = offered
	since := to - to/backlogPart
	if s.Undelivered, s.Known = l.undelivered(list, since, to); s.Known {
		s.judge(newReference(l.fabric, list, framing, since, to))
	}
	return s
}

// judge compares what is undelivered with the reference.
func (s *Stability) judge(r *reference) {
	var rate units.BitsPerSecond
	for _, h := range r.fabric.Hosts {
		rate = max(rate, r.fabric.Uplink(h).Rate)
	}
	margin := marginShare + marginBytes/float64(max(1, rate.BytesIn(r.until)))
	overhead := r.overhead()
	s.Reference = r.backlog(max(0, 1-margin) * s.Offered * overhead)
	if s.Unstable = s.Undelivered > s.Reference; !s.Unstable {
		return
	}
	s.Carried = r.share(s.Undelivered) / overhead
	s.Reasons = append(s.Reasons, fmt.Sprintf(
		"at the end of the window %.3g MB are undelivered, as over links that carry payload at %.0f %% of their rate, "+
			"and %.0f %% are offered", s.Undelivered/1e6, 100*s.Carried, 100*s.Offered))
}

// undelivered is the payload that was offered and has not been received, mean over
// samples of a span.
func (l *rawLogs) undelivered(list []Message, from, to units.Time) (float64, bool) {
	const samples = 20
	sum := 0.0
	for i := range units.Time(samples) {
		at := from + (to-from)*(i+1)/samples
		for h := range l.hosts {
			got, ok := l.payloadBetween(topo.HostID(h), 0, at)
			if !ok {
				return 0, false
			}
			sum -= got / samples
		}
		for j := range list {
			if list[j].Offered <= at {
				sum += float64(list[j].Size) / samples
			}
		}
	}
	return max(0, sum), true
}
